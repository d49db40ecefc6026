import { inTurns } from "../fairness/turns.ts";
import type { PriceBook } from "../prices/price-book.ts";
import { AppError } from "../shared/errors.ts";
import { hourOf } from "../shared/instant.ts";
import type { Project } from "../shared/project.ts";
import { eachItem } from "../shared/steps.ts";
import type { Engine } from "../store/engine.ts";
import { planCalls } from "../trace-usage/plan.ts";
import { readCalls } from "../trace-usage/read-calls.ts";
import { LlmDictionary } from "../trace-usage/table/llm-dictionary.ts";
import { readOwnUsage } from "../usage-rollup/read-own-usage.ts";
import { rollupQueryOf } from "../usage-rollup/rollup-query.ts";
import type { ProviderOf } from "../usage/usage.ts";
import type { StatsPlan } from "./plan/plan-stats.ts";
import type { UsageStatsRequest } from "./schema.ts";
import { callColumns, CallsFold } from "./sums/calls-fold.ts";
import type { StatsFold } from "./sums/stats-fold.ts";

export interface StatsDeps {
  readonly engine: Engine;
  /** Maximum number of calls read for one response, and of its aggregates. */
  readonly maxCalls: number;
  readonly maxAggregates: number;
  /** Returns the prices of a project. */
  readonly bookFor: (project: Project) => Promise<PriceBook>;
  readonly providerOf: ProviderOf;
}

export interface StatsRequested {
  readonly project: Project;
  readonly request: UsageStatsRequest;
  readonly plan: StatsPlan;
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

/**
 * Sums all calls of a window: from the usage rollup as far as it is valid, the rest at query time, from whole traces because a
 * call's own usage depends on the other calls. Errors: validation; `StorageError`; too_many_calls.
 */
export async function sumCalls(
  { engine, maxCalls, maxAggregates, bookFor, providerOf }: StatsDeps,
  { project, request: { filter, query, group_by }, plan, nowMs, signal }: StatsRequested,
): Promise<StatsFold> {
  const { window, buckets, latency } = plan;
  const selection = planCalls(project, { filter, query, window });
  const book = plan.withCosts ? await bookFor(project) : undefined;
  const names = new LlmDictionary();
  const fold = new CallsFold(plan, { names, book, providerOf, maxAggregates });
  if (buckets.startsUs.length === 0) return fold;
  const rollupQuery = rollupQueryOf({
    filter,
    query,
    fields: group_by.all.flatMap(({ source, field }) => (source === "call" ? [field] : [])),
    latencies: latency === undefined ? "none" : latency.percentiles.length > 0 ? "each" : "sums",
  });
  let live = selection;
  if (rollupQuery !== undefined && !isRunning(window.startUs, nowMs)) {
    const requested = { project, window, startsUs: buckets.startsUs, query: rollupQuery, book };
    const { sums, uncoveredTraces: traces } = await readOwnUsage(engine, selection, requested, signal);
    await inTurns(eachItem(sums, (sum) => fold.addSum(sum)));
    live = { ...selection, strategy: { kind: "known traces", traces } };
  }
  const columns = callColumns(plan);
  const tooMany = (what: string): AppError => tooManyCalls(what, maxCalls);
  const found = await readCalls(engine, live, { names, columns, forOwn: true, maxCalls, tooMany, signal });
  for await (using table of found.tables) await inTurns(fold.add(table.calls, table.more));
  return fold;
}

/** True for instants in the current hour, which the usage rollup does not cover. */
function isRunning(startUs: number, nowMs: number): boolean {
  return hourOf(startUs) >= hourOf(nowMs * 1000);
}

function tooManyCalls(what: string, maxCalls: number): AppError {
  return new AppError(
    "too_many_calls",
    `The selected traces have ${what}; a response reads at most ${maxCalls}. ` +
      "Use a shorter window or select fewer calls.",
  );
}
