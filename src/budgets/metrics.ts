import { Counter, Gauge, type Registry } from "prom-client";
import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../shared/clock.ts";
import type { BudgetState } from "./budget-state.ts";
import { UNITS, type Unit } from "./budget.ts";
import { usdNumber } from "./usd.ts";

/** Recorded cost of a project in the current UTC day. */
export interface DaySpend {
  readonly dayStartUs: number;
  /** In attodollars. */
  readonly usd: bigint;
}

export interface BudgetSources {
  readonly states: () => Promise<readonly BudgetState[]>;
  /** Reads the cost of today of each project with a budget. */
  readonly spendOf: () => Promise<ReadonlyMap<string, DaySpend>>;
}

const READ_EVERY_MS = 1000;
/** A scrape does not wait longer for the store; it gets what was read before. */
const MAX_WAIT_MS = 2000;

/** Registers the metrics of budgets; returns a function that reads them, as a scrape does. Never rejects. */
export function registerBudgetMetrics(
  registry: Registry,
  { states, spendOf }: BudgetSources,
  steady: Clock,
): () => Promise<void> {
  let reading: Promise<void> | undefined;
  let readAtMs = -Infinity;
  const readAll = async (): Promise<void> => {
    try {
      setGauges(await states());
      addSpend(await spendOf());
    } catch {
      // the metrics of statements tell of failures of the store
      setGauges([]);
    }
    readAtMs = steady.now();
    reading = undefined;
  };
  const collect = async (): Promise<void> => {
    if (steady.now() - readAtMs < READ_EVERY_MS) return;
    reading ??= readAll();
    await Promise.race([reading, delay(MAX_WAIT_MS, undefined, { ref: false })]);
  };
  const setGauges = budgetGauges({ registers: [registry], collect });
  const addSpend = spendCounter({ registers: [registry], collect });
  return collect;
}

interface Registered {
  readonly registers: Registry[];
  readonly collect: () => Promise<void>;
}

function budgetGauges(registered: Registered) {
  const gaugeOf = (name: string, help: string) =>
    new Gauge({ name, help, labelNames: ["budget", "unit"], ...registered });
  const limits = gaugeOf("sumtree_budget_limit", "Limit of a budget, in USD, tokens or requests");
  const spent = gaugeOf(
    "sumtree_budget_spent",
    "Usage recorded in the window of a budget, in the same units",
  );
  const held = gaugeOf(
    "sumtree_budget_held",
    "Worst case of open requests under a budget, in the same units",
  );
  return (states: readonly BudgetState[]): void => {
    for (const gauge of [limits, spent, held]) gauge.reset();
    for (const unit of UNITS)
      for (const state of largest(states, unit)) {
        const labels = { budget: state.budget.id, unit };
        const limit = state.budget.limit[unit];
        if (limit !== null) limits.set(labels, inUnit(limit));
        spent.set(labels, inUnit(state.spent[unit]));
        held.set(labels, inUnit(state.held[unit]));
      }
  };
}

/** Returns for each budget the state of the value that has spent the most. */
function largest(states: readonly BudgetState[], unit: Unit): Iterable<BudgetState> {
  const byBudget = new Map<string, BudgetState>();
  for (const state of states) {
    const known = byBudget.get(state.budget.id);
    if (known === undefined || state.spent[unit] > known.spent[unit]) byBudget.set(state.budget.id, state);
  }
  return byBudget.values();
}

/** Dollars are bigints in attodollars. */
function inUnit(amount: bigint | number): number {
  return typeof amount === "bigint" ? usdNumber(amount) : amount;
}

/**
 * Counts what projects spend while the process runs. What was spent before its first read would look like spending of this
 * moment, also after a restart. What a price or a deletion takes away is counted once when it comes back.
 */
function spendCounter(registered: Registered) {
  const counter = new Counter({
    name: "sumtree_spend_usd_total",
    help: "Recorded cost of projects with a budget, in USD",
    labelNames: ["project"],
    ...registered,
  });
  let highest: Map<string, DaySpend> | undefined;
  return (spends: ReadonlyMap<string, DaySpend>): void => {
    highest ??= new Map(spends);
    for (const [project, spend] of spends) {
      const known = highest.get(project);
      const isSameDay = known?.dayStartUs === spend.dayStartUs;
      const more = spend.usd - (isSameDay ? known.usd : 0n);
      counter.inc({ project }, Math.max(0, inUnit(more)));
      if (!isSameDay || more > 0n) highest.set(project, spend);
    }
  };
}
