import type { Project } from "../shared/project.ts";
import { AppError } from "../shared/errors.ts";
import { amountsOf, checkAccounts, headersOf, type Needed, type WorstCase } from "./admission.ts";
import { EACH, type Budget, type Limit, type Scope } from "./budget.ts";
import type { BudgetStore } from "./budget-store.ts";
import { Hold, type HeldUnder, type UsedByModel } from "./hold.ts";
import { isModelOf, undated } from "./model-name.ts";
import type { Spending } from "./spending.ts";
import type { TraceLimitStore } from "./trace-limit-store.ts";

export interface BudgetsDeps {
  readonly store: BudgetStore;
  readonly traceLimits: TraceLimitStore;
  readonly spending: Spending;
}

/** Values of a request in the scopes; undefined: it has none. */
export type Values = Readonly<Record<Exclude<Scope, "project">, string | undefined>>;

export interface BudgetedRequest {
  readonly project: Project;
  readonly values: Values;
  readonly startedAtMs: number;
  /** The trace begins with this request. */
  readonly isNewTrace: boolean;
  readonly worstCase: WorstCase;
}

export interface Admitted {
  readonly hold: Hold;
  /** Response headers. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Name of the header that limits a trace, and of what it limits in errors. */
export const TRACE_LIMIT_HEADER = "x-sumtree-budget";

/** Admits the requests of projects and keys that have budgets. */
export class Budgets {
  readonly #deps: BudgetsDeps;

  constructor(deps: BudgetsDeps) {
    this.#deps = deps;
  }

  /** True if a key has a budget in a project that it may use, so that its requests need a project. */
  async bindsKey(keyId: string, covers: (pattern: string) => boolean): Promise<boolean> {
    const isLimited = !covers(EACH);
    return (await this.#deps.store.all()).some(
      ({ scope, match, project }) =>
        scope === "api_key" && (match === keyId || (match === EACH && isLimited)) && covers(project),
    );
  }

  /** True if the project has a budget. */
  async has(project: Project): Promise<boolean> {
    return (await this.#deps.store.of(project)).length > 0;
  }

  /**
   * Returns the limits of a trace, after tightening them. A new trace is known to nobody else, so its limits are not stored.
   * Errors: `StorageError`.
   */
  async limitOf(
    project: Project,
    { id, isNew }: { readonly id: string; readonly isNew: boolean },
    tightened: Limit | undefined,
  ): Promise<Limit | undefined> {
    if (isNew) return tightened;
    const { traceLimits } = this.#deps;
    return tightened === undefined
      ? traceLimits.of(project, id)
      : traceLimits.tighten(project, id, tightened);
  }

  /**
   * Holds the worst case of a request in the accounts of all its budgets, or of none; undefined if it has no budgets. Errors:
   * budget_exceeded, budget_held, unknown_price; store_unavailable if what is spent cannot be read; service_overloaded.
   */
  async admit(request: BudgetedRequest, traceLimit: Limit | undefined): Promise<Admitted | undefined> {
    const { spending, store } = this.#deps;
    const { writes: budgetWrites } = store;
    const stored = await store.of(request.project);
    const budgets = [...stored, ...(traceLimit === undefined ? [] : [budgetOfTrace(request, traceLimit)])];
    const under: HeldUnder = {
      budgetWrites,
      hasTraceLimit: traceLimit !== undefined,
      llm: stored.some(({ scope }) => scope === "llm") ? (request.values.llm ?? "") : null,
    };
    const needs = this.#needsOf(request, budgets);
    const known = needs();
    if (known.length === 0) return undefined;
    await Promise.all(known.map(({ key, account }) => spending.refresh(key, account)));
    const needed = read(needs());
    try {
      checkAccounts(needed);
      return { hold: new Hold(spending, needed, under), headers: headersOf(needed) };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
    }
    // a refusal is by what is recorded
    await Promise.all(needed.map(({ key, account }) => spending.settle(key, account)));
    const settled = read(needs());
    checkAccounts(settled);
    return { hold: new Hold(spending, settled, under), headers: headersOf(settled) };
  }

  /** Holds the worst case of a request that was admitted before; undefined if no budget is left. Errors: `StorageError`. */
  async resume(request: BudgetedRequest): Promise<Hold | undefined> {
    const { store, traceLimits, spending } = this.#deps;
    const { project, values, worstCase } = request;
    // it has passed, whatever budgets are set by now
    const priced = { ...request, worstCase: { ...worstCase, usd: worstCase.usd ?? 0n } };
    const traceLimit = await traceLimits.of(project, values.trace_id!);
    const ofTrace = traceLimit === undefined ? [] : [budgetOfTrace(request, traceLimit)];
    const needs = this.#needsOf(priced, [...(await store.of(project)), ...ofTrace]);
    const under = { budgetWrites: -1, hasTraceLimit: false, llm: null };
    return needs().length === 0 ? undefined : new Hold(spending, needs(), under);
  }

  /** Call when the call of a request is stored: sums that no hold has told of it are read again. */
  stored(
    project: Project,
    traceId: string | undefined,
    held: { readonly hold: Hold; readonly used: UsedByModel } | undefined,
  ): void {
    const { store, traceLimits, spending } = this.#deps;
    const hasTraceLimit = traceId !== undefined && traceLimits.isLimited(project, traceId);
    if (held?.hold.hasAllOf(held.used, { budgetWrites: store.writes, hasTraceLimit }) !== true)
      spending.changed(project);
  }

  /** Returns a function that finds the accounts of a request. Throws unknown_price. */
  #needsOf(request: BudgetedRequest, budgets: readonly Budget[]): () => readonly Needed[] {
    const { spending } = this.#deps;
    const keys = budgets.flatMap((budget) => {
      const value = valueOf(budget, request.values);
      return value === undefined ? [] : [spending.keyOf(budget, value, request.startedAtMs)];
    });
    return () =>
      keys.map((key) => ({
        key,
        account: spending.account(key, request.isNewTrace && key.budget.scope === "trace_id"),
        amounts: amountsOf(request.worstCase, key.budget),
      }));
  }
}

/** Throws service_overloaded if accounts were forgotten meanwhile, because so many others are used. */
function read(needed: readonly Needed[]): readonly Needed[] {
  if (needed.every(({ account }) => account.spent !== undefined)) return needed;
  throw new AppError("service_overloaded", "Too many budgets are used at once.", { retryAfterSeconds: 1 });
}

/** The value under which a request comes under a budget; null for the project, undefined if it does not. */
function valueOf({ scope, match }: Budget, values: Values): string | null | undefined {
  if (scope === "project") return null;
  const value = values[scope];
  if (value === undefined) return undefined;
  if (match === EACH) return scope === "llm" ? undated(value) : value;
  const isMatch = scope === "llm" ? isModelOf(match, value) || isModelOf(value, match) : value === match;
  return isMatch ? match : undefined;
}

function budgetOfTrace({ project, values }: BudgetedRequest, limit: Limit): Budget {
  return {
    id: TRACE_LIMIT_HEADER,
    project,
    name: TRACE_LIMIT_HEADER,
    scope: "trace_id",
    match: values.trace_id!,
    limit,
    window: null,
    timezone: "UTC",
    onUnknownPrice: "refuse",
    alerts: [],
  };
}
