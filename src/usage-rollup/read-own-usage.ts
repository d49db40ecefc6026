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

/** What calls of a window used themselves. No trace is in both, or in neither. */
export interface WindowUsage {
  readonly aggregates: Iterable<UsageAggregate>;
  /** Traces whose calls must be folded. */
  readonly uncoveredTraces: readonly SelectedTrace[];
}

const MAX_ATTEMPTS = 3;

/**
 * What the ledger has of a window, and the traces that it does not have: all of them, if writers change it faster than it can be
 * compared.
 *
 * The fingerprints are read first, then the live traces are counted, and last it is compared that the same is settled still: a
 * trace that had come to lie under other hours by the time it was counted was noted under all of them before, so that no
 * batch which has it matches any more.
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
    // a replica that may lack something can still be asked live
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
  const materialized = findCoverage(snapshot);
  const summing =
    materialized.manifests.length === 0 ? undefined : planAggregation(requested, materialized.manifests);
  if (summing === undefined) return "unmaterialized";
  const live = placesOfLive(selection, materialized);
  const [traces, ...sums] = await Promise.all([
    live === undefined ? [] : countTraces(engine, selection, live, signal),
    ...summing.map((one) => sumRecords(engine, one, signal)),
  ]);
  if (!sums.every((one) => one !== undefined)) return "changed";
  if (live !== undefined) {
    const multiHour = await snapshot.rereadMultiHourTraces();
    if (!isSameCoverage(findCoverage({ ...snapshot, multiHour }), materialized)) return "changed";
  }
  return {
    aggregates: aggregatesOf(sums, requested),
    uncoveredTraces: traces,
  };
}

/** A condition: all calls of the traces that are not settled. Undefined: all are. */
function placesOfLive(
  { project }: Selection,
  { unmaterializedHours: liveHours, unmaterializedSpanHours: hoursOfLiveGroups, groups }: RollupCoverage,
): Sql | undefined {
  if (liveHours.length === 0 && hoursOfLiveGroups.length === 0) return undefined;
  const places = keysOutside(project, hourIn([...liveHours, ...hoursOfLiveGroups]), groups);
  return sql`(${hourIn(liveHours)} OR (hour, trace_id) IN ${places})`;
}
