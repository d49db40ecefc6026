import type { Engine } from "../store/engine.ts";
import { isNotCurrent } from "../store/storage-error.ts";
import { sql, type Sql } from "../query/sql.ts";
import type { Selection, SelectedTrace } from "../trace-usage/selection.ts";
import { hoursOfWindow } from "../trace-usage/plan.ts";
import { countTraces } from "../trace-usage/read/count-traces.ts";
import type { UsageAggregate } from "./aggregate.ts";
import { aggregatesOf } from "./price-sums.ts";
import { isSameCoverage, findCoverage, type RollupCoverage } from "./coverage.ts";
import { hourIn } from "./hour.ts";
import { readSnapshot } from "./snapshot.ts";
import { planAggregation } from "./plan-aggregation.ts";
import type { OwnUsageQuery } from "./rollup-query.ts";
import { keysOutside } from "./multi-hour-traces.ts";
import { sumRecords } from "./sum-records.ts";

/** Own usage of a window's calls: every trace is either in the aggregates or uncovered. */
export interface WindowUsage {
  readonly aggregates: Iterable<UsageAggregate>;
  /** Traces to aggregate at query time. */
  readonly uncoveredTraces: readonly SelectedTrace[];
}

const MAX_ATTEMPTS = 3;

/**
 * Reads a window's usage from the rollup, and the traces it does not cover: all traces if the hours change in `MAX_ATTEMPTS`
 * attempts or no replica is up to date.
 *
 * Reads the fingerprints, then counts the uncovered traces, then checks that the coverage is unchanged. A trace that gains an
 * hour is indexed under it before its calls are written, so the check detects every trace that moved before it was counted.
 */
export async function readOwnUsage(
  engine: Engine,
  requested: OwnUsageQuery,
  signal: AbortSignal,
): Promise<WindowUsage> {
  try {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const found = await attemptToRead(engine, requested, signal);
      if (found === "unmaterialized") break;
      if (found !== "changed") return found;
    }
  } catch (error) {
    // a lagging replica can still serve the query from `calls`
    if (!isNotCurrent(error)) throw error;
  }
  return {
    aggregates: [],
    uncoveredTraces: await countTraces(engine, requested.selection, requested.selection.whereTraces, signal),
  };
}

async function attemptToRead(
  engine: Engine,
  requested: OwnUsageQuery,
  signal: AbortSignal,
): Promise<WindowUsage | "changed" | "unmaterialized"> {
  const { selection, window } = requested;
  const snapshot = await readSnapshot(engine, selection.project, hoursOfWindow(window), signal);
  const coverage = findCoverage(snapshot);
  const plans = coverage.manifests.length === 0 ? undefined : planAggregation(requested, coverage.manifests);
  if (plans === undefined) return "unmaterialized";
  const uncovered = inUncoveredTraces(selection, coverage);
  const [uncoveredTraces, ...sums] = await Promise.all([
    uncovered === undefined ? [] : countTraces(engine, selection, uncovered, signal),
    ...plans.map((plan) => sumRecords(engine, plan, signal)),
  ]);
  if (!sums.every((sum) => sum !== undefined)) return "changed";
  if (uncovered !== undefined) {
    const multiHour = await snapshot.rereadMultiHourTraces();
    if (!isSameCoverage(findCoverage({ ...snapshot, multiHour }), coverage)) return "changed";
  }
  return { aggregates: aggregatesOf(sums, requested), uncoveredTraces };
}

/** SQL condition: calls of uncovered traces. `undefined` if the rollup covers all. */
function inUncoveredTraces(
  { project }: Selection,
  { unmaterializedHours, unmaterializedSpanHours, spans }: RollupCoverage,
): Sql | undefined {
  const hours = [...unmaterializedHours, ...unmaterializedSpanHours];
  if (hours.length === 0) return undefined;
  return sql`(${hourIn(unmaterializedHours)} OR (hour, trace_id) IN ${keysOutside(project, hourIn(hours), spans)})`;
}
