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
  /** Hour buckets; traces that are also stored outside them are not read. */
  readonly hours: HourRange;
  /** `undefined` if `include_costs` is false. */
  readonly book: PriceBook | undefined;
}

const ANY_TIME = { startUs: -Infinity, endUs: Infinity };
const MAX_ATTEMPTS = 3;

/**
 * Reads the aggregates of materialized traces, each complete; `fields[0]` is the trace id. Callers fold all other traces:
 * every trace if the hours change in `MAX_ATTEMPTS` attempts or no replica is up to date.
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
    // a lagging replica can still serve the query from `calls`
    if (!isNotCurrent(error)) throw error;
  }
  return [];
}

/** `undefined` if an hour was materialized again during the read. */
async function attemptToRead(
  engine: Engine,
  { project, hours, book }: MaterializedTracesRequested,
  signal: AbortSignal,
): Promise<Iterable<UsageAggregate> | undefined> {
  const { manifests } = findCoverage(await snapshotAtHours(engine, project, hours, signal));
  const inside = manifests.filter(
    ({ first, last }: RollupManifest) => first >= hours.from && last <= hours.to,
  );
  const requested = {
    selection: { project },
    window: ANY_TIME,
    buckets: { startsUs: [] },
    query: { fields: ["trace_id"], condition: undefined, latencies: "none" },
    book,
  } as const;
  const plans = planAggregation(requested, inside);
  if (plans === undefined) return [];
  const sums = await Promise.all(plans.map((plan) => sumRecords(engine, plan, signal)));
  const found = sums.filter((sum) => sum !== undefined);
  return found.length === sums.length ? aggregatesOf(found, requested) : undefined;
}
