import { inTurns } from "../../fairness/turns.ts";
import { eachItem } from "../../shared/steps.ts";
import { readMaterializedTraces } from "../../usage-rollup/read-materialized-traces.ts";
import type { HourRange } from "../../query/index.ts";
import { sql } from "../../query/sql.ts";
import { readCalls } from "../../trace-usage/read-calls.ts";
import { releaseCalls } from "../../trace-usage/table/call-table.ts";
import { AppError } from "../../shared/errors.ts";
import type { Project } from "../../shared/project.ts";
import type { Engine } from "../../store/engine.ts";
import { toSelected, type FoundTrace } from "./find-traces.ts";
import { TRACE_COLUMNS } from "./trace-columns.ts";
import { TraceSums, type SumOptions } from "./trace-sums.ts";

export interface SumTracesOptions extends SumOptions {
  readonly project: Project;
  /** Hours in which the traces start. */
  readonly hours: HourRange;
  readonly withDetails: boolean;
  /** Number of calls up to which the usage rollup is not queried. */
  readonly foldedAtOnce?: number;
  /** Maximum number of calls read for one response. */
  readonly maxCalls: number;
  readonly signal: AbortSignal;
}

/** Calls up to which folding is as fast as querying the usage rollup. */
const FOLDED_AT_ONCE = 50_000;

/**
 * Sums usage by trace: from the usage rollup where only sums are requested, and by folding calls otherwise. Errors:
 * `StorageError`; too_many_calls.
 */
export async function sumTraces(
  engine: Engine,
  traces: readonly FoundTrace[],
  options: SumTracesOptions,
): Promise<TraceSums> {
  const { project, book, withDetails, foldedAtOnce = FOLDED_AT_ONCE, signal } = options;
  const all = new TraceSums(
    traces.map(({ traceId }) => traceId),
    options,
  );
  const callCount = traces.reduce((sum, trace) => sum + trace.callCount, 0);
  if (!withDetails && callCount > foldedAtOnce) {
    const aggregates = await readMaterializedTraces(
      engine,
      { project, hours: hoursAround(traces, options.hours), book },
      signal,
    );
    await inTurns(eachItem(aggregates, (aggregate) => all.addAggregate(aggregate)));
  }
  await foldTraces(engine, { traces: traces.filter((_, row) => !all.has(row)), into: all }, options);
  return all;
}

/** Returns the hours of the traces' calls, except later hours of long traces. */
function hoursAround(traces: readonly FoundTrace[], started: HourRange): HourRange {
  let [from, to] = [Infinity, -Infinity];
  for (const { hours } of traces) {
    for (const hour of hours) {
      from = Math.min(from, hour);
      to = Math.max(to, hour);
    }
  }
  return { from: Math.max(from, started.from - 1), to: Math.min(to, started.to + 1) };
}

async function foldTraces(
  engine: Engine,
  { traces, into }: { readonly traces: readonly FoundTrace[]; readonly into: TraceSums },
  { project, names, maxCalls, signal }: SumTracesOptions,
): Promise<void> {
  if (traces.length === 0) return;
  const strategy = { kind: "known traces", traces: traces.toSorted(byHour).map(toSelected) } as const;
  const plan = {
    project,
    condition: sql`1`,
    whereSelected: sql`1`,
    whereTraces: sql`1`,
    strategy,
    limit: undefined,
  };
  const tooMany = (what: string): AppError =>
    new AppError(
      "too_many_calls",
      `The selected traces have ${what}; a response reads at most ${maxCalls}. ` +
        "Use a shorter window, add conditions, or raise MAX_STATS_CALLS.",
    );
  const columns = TRACE_COLUMNS;
  const found = await readCalls(engine, plan, { names, columns, forOwn: true, maxCalls, tooMany, signal });
  for await (const { calls, more } of found.tables) {
    await inTurns(into.add(calls, more));
    releaseCalls(calls);
  }
}

/** Orders traces by hour, so that those read together are stored together. */
function byHour(one: FoundTrace, other: FoundTrace): number {
  return (one.hours[0] ?? 0) - (other.hours[0] ?? 0);
}
