import { inTurns } from "../fairness/turns.ts";
import type { PriceBook } from "../prices/price-book.ts";
import { AppError } from "../shared/errors.ts";
import { hourOf } from "../shared/instant.ts";
import type { Project } from "../shared/project.ts";
import { eachItem } from "../shared/steps.ts";
import type { Engine } from "../store/engine.ts";
import { planCalls } from "../trace-usage/plan.ts";
import { readCalls } from "../trace-usage/read-calls.ts";
import { tracesOfCalls } from "../trace-usage/read/traces-of-calls.ts";
import { LlmDictionary } from "../trace-usage/table/llm-dictionary.ts";
import { readOwnUsage } from "../usage-rollup/read-own-usage.ts";
import { rollupQueryOf } from "../usage-rollup/rollup-query.ts";
import type { ProviderOf } from "../usage/usage.ts";
import type { StatsPlan } from "./plan/plan-stats.ts";
import { readRatedCalls } from "./read-rated.ts";
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
  requested: StatsRequested,
): Promise<StatsFold> {
  const { project, request, plan, nowMs, signal } = requested;
  const { filter, query, group_by } = request;
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
  // first, so that calls that arrive meanwhile are not rated without being counted
  const rated = await readRatedCalls(engine, requested, maxCalls);
  let live = selection;
  if (rollupQuery !== undefined && !isRunning(window.startUs, nowMs)) {
    const ownUsage = { project, window, startsUs: buckets.startsUs, query: rollupQuery, book };
    const { sums, uncoveredTraces: traces } = await readOwnUsage(engine, selection, ownUsage, signal);
    await inTurns(eachItem(sums, (sum) => fold.addSum(sum)));
    live = { ...selection, strategy: { kind: "known traces", traces } };
  }
  const columns = callColumns(plan);
  const tooMany = (what: string): AppError => tooManyCalls(what, maxCalls);
  const options = { names, columns, forOwn: true, maxCalls, tooMany, signal } as const;
  const found = await readCalls(engine, live, options);
  for await (using table of found.tables) await inTurns(fold.add(table.calls, table.more));
  if (rated.length === 0) return fold;
  const ids = Map.groupBy(rated, ({ traceId }) => traceId);
  const idSets = new Map([...ids].map(([traceId, some]) => [traceId, new Set(some.map(({ id }) => id))]));
  const traces = await tracesOfCalls(engine, project, idSets, signal);
  const ofRated = await readCalls(
    engine,
    { ...selection, strategy: { kind: "known traces", traces } },
    options,
  );
  const passed = new Set(rated.flatMap((one) => (one.passed ? [one.id] : [])));
  for await (using table of ofRated.tables) await inTurns(fold.addRated(table.calls, table.more, passed));
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
