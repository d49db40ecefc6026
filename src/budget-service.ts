import { openZone } from "./buckets/zone.ts";
import { Budgets } from "./budgets/budgets.ts";
import { createBudgetStore, type BudgetStore } from "./budgets/budget-store.ts";
import { createClaims } from "./budgets/claims.ts";
import type { BudgetSources } from "./budgets/metrics.ts";
import { ProjectChanges } from "./budgets/project-changes.ts";
import { rememberSpent } from "./budgets/remembered-spent.ts";
import { createSpentReader } from "./budgets/spent.ts";
import { Spending } from "./budgets/spending.ts";
import { createTraceLimitStore } from "./budgets/trace-limit-store.ts";
import { windowOf } from "./budgets/window-of.ts";
import type { CallWriter } from "./calls/write/call-writer.ts";
import type { Clock } from "./shared/clock.ts";
import type { Project } from "./shared/project.ts";
import type { Engine } from "./store/engine.ts";
import type { StatsDeps } from "./stats/sum-calls.ts";

export interface BudgetService extends BudgetSources {
  readonly store: BudgetStore;
  readonly spending: Spending;
  readonly budgets: Budgets;
}

/** Changes of projects by all ways that calls are written, and by all but the gateway's recorder. */
export interface WriteChanges {
  readonly all: ProjectChanges;
  readonly others: ProjectChanges;
}

interface BudgetServiceDeps extends StatsDeps {
  readonly changes: WriteChanges;
  readonly replicas: number;
  readonly clock: Clock;
  readonly steady: Clock;
}

const UTC = openZone("UTC")!;

export function createBudgetService(deps: BudgetServiceDeps): BudgetService {
  const { engine, clock, steady, changes, replicas } = deps;
  const store = createBudgetStore(engine, clock, steady);
  const reader = createSpentReader(deps, () => clock.now());
  const remembered = rememberSpent(reader, changes.all);
  const claims = createClaims(engine, replicas);
  const spending = new Spending({ reader, changes: changes.others, claims, clock, steady });
  const traceLimits = createTraceLimitStore(engine, steady);
  return {
    store,
    spending,
    budgets: new Budgets({ store, traceLimits, spending }),
    async states() {
      const states = [];
      for (const budget of await store.all()) states.push(...(await spending.statesOf(budget, remembered)));
      return states;
    },
    async spendOf() {
      const window = windowOf("day", clock.now(), UTC);
      const spends = new Map<string, { readonly dayStartUs: number; readonly usd: bigint }>();
      for (const project of new Set((await store.all()).map((budget) => budget.project))) {
        const { usd } = await remembered.of({ project, scope: "project", window }, null);
        spends.set(project, { dayStartUs: window.startUs, usd });
      }
      return spends;
    },
  };
}

/** Creates what notes changes. `isShared`: other services use the store. */
export function createWriteChanges(engine: Engine, isShared: boolean): WriteChanges {
  return { all: new ProjectChanges(engine, isShared), others: new ProjectChanges(engine, isShared) };
}

/** Notes the projects of the calls that are written, so that what is spent is read again. */
export function noteChanges(writer: CallWriter, changes: readonly ProjectChanges[]): CallWriter {
  const note = (project: Project): void => changes.forEach((one) => one.note(project));
  return {
    ...writer,
    async write(project, events, since) {
      try {
        return await writer.write(project, events, since);
      } finally {
        note(project);
      }
    },
  };
}
