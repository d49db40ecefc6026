import type { PriceBook } from "../prices/price-book.ts";
import type { HourRange } from "../query/index.ts";
import type { Project } from "../shared/project.ts";
import type { Engine } from "../store/engine.ts";
import { isNotCurrent } from "../store/storage-error.ts";
import type { UsageAggregate } from "./aggregate.ts";
import { aggregatesOf } from "./price-sums.ts";
import { findCoverage } from "./coverage.ts";
import type { RollupManifest } from "./manifests.ts";
import { snapshotAtHours } from "./snapshot.ts";
import { planAggregation } from "./plan-aggregation.ts";
import { sumRecords } from "./sum-records.ts";

export interface MaterializedTracesRequested {
  readonly project: Project;
  /** Of keys: only traces that lie under these alone are there. */
  readonly hours: HourRange;
  /** Undefined: costs are not asked for. */
  readonly book: PriceBook | undefined;
}

const ANY_TIME = { startUs: -Infinity, endUs: Infinity };
const MAX_ATTEMPTS = 3;

/**
 * What the ledger has of whole traces, by trace: of each all its calls, or nothing. What is not there must be folded. The first
 * field of a cell is the trace. None, if writers change the hours faster than they can be read.
 */
export async function readMaterializedTraces(
  engine: Engine,
  requested: MaterializedTracesRequested,
  signal: AbortSignal,
): Promise<Iterable<UsageAggregate>> {
  try {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const aggregates = await attemptToRead(engine, requested, signal);
      if (aggregates !== undefined) return aggregates;
    }
  } catch (error) {
    // a replica that may lack something can still be asked live
    if (!isNotCurrent(error)) throw error;
  }
  return [];
}

/** Undefined: an hour was settled again meanwhile. */
async function attemptToRead(
  engine: Engine,
  { project, hours, book }: MaterializedTracesRequested,
  signal: AbortSignal,
): Promise<Iterable<UsageAggregate> | undefined> {
  const { manifests } = findCoverage(await snapshotAtHours(engine, project, hours, signal));
  const whole = manifests.filter(
    ({ first, last }: RollupManifest) => first >= hours.from && last <= hours.to,
  );
  const requested = {
    selection: { project },
    window: ANY_TIME,
    buckets: { startsUs: [] },
    query: { fields: ["trace_id"], condition: undefined, latencies: "none" },
    book,
  } as const;
  const summing = planAggregation(requested, whole);
  if (summing === undefined) return [];
  const sums = await Promise.all(summing.map((one) => sumRecords(engine, one, signal)));
  const found = sums.filter((one) => one !== undefined);
  return found.length === sums.length ? aggregatesOf(found, requested) : undefined;
}
