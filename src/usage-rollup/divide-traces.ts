import type { HourRange } from "../query/bounds/time-range.ts";
import { sql, type Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";
import { findCoverage, isSameCoverage, type RollupCoverage } from "./coverage.ts";
import { hourIn, type Reading } from "./hours.ts";
import type { RollupManifest } from "./manifests.ts";
import { keysOutside } from "./multi-hour-traces.ts";
import { readSnapshot } from "./snapshot.ts";

/** Query answered from usage records where these cover a trace, and from calls elsewhere. */
interface DividedQuery<OfRecords, OfCalls> {
  /** The calls started in these hours; `margin`: as of `readSnapshot`. */
  readonly started: HourRange;
  readonly margin: number;
  /**
   * Reads the records of manifests, while the calls are read. `unable`: they cannot answer; `changed`: an hour was materialized
   * meanwhile.
   */
  readonly readRecords: (
    manifests: readonly RollupManifest[],
    calls: Promise<OfCalls>,
  ) => Promise<OfRecords | "changed" | "unable">;
  /** Reads the uncovered traces. `where`: SQL condition of all their calls, or all traces; `undefined` if there are none. */
  readonly readCalls: (where: Sql | "all" | undefined) => Promise<OfCalls>;
}

/** Every trace is either in the records or in the calls. */
export interface Divided<OfRecords, OfCalls> {
  /** `undefined`: all traces are in the calls. */
  readonly ofRecords: OfRecords | undefined;
  readonly ofCalls: OfCalls;
}

const MAX_ATTEMPTS = 3;

/**
 * Answers a query in two parts. Ignores the records if the hours change in `MAX_ATTEMPTS` attempts.
 *
 * Reads the fingerprints, then the uncovered traces, then checks that the coverage is unchanged. A trace that gains an hour is
 * indexed under it before its calls are written, so the check detects every trace that moved before it was read.
 */
export async function divideTraces<OfRecords, OfCalls>(
  reading: Reading,
  query: DividedQuery<OfRecords, OfCalls>,
): Promise<Divided<OfRecords, OfCalls>> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const found = await attemptToDivide(reading, query);
    if (found === "unable") break;
    if (found !== "changed") return found;
  }
  return { ofRecords: undefined, ofCalls: await query.readCalls("all") };
}

async function attemptToDivide<OfRecords, OfCalls>(
  reading: Reading,
  { started, margin, readRecords, readCalls }: DividedQuery<OfRecords, OfCalls>,
): Promise<Divided<OfRecords, OfCalls> | "changed" | "unable"> {
  const snapshot = await readSnapshot(reading, started, margin);
  const coverage = findCoverage(snapshot);
  if (coverage.manifests.length === 0) return "unable";
  const uncovered = inUncoveredTraces(reading.project, coverage);
  const calls = readCalls(uncovered);
  const [ofCalls, ofRecords] = await Promise.all([calls, readRecords(coverage.manifests, calls)]);
  if (ofRecords === "changed") return "changed";
  if (ofRecords === "unable") return "unable";
  if (uncovered !== undefined) {
    const multiHour = await snapshot.rereadMultiHourTraces();
    if (!isSameCoverage(findCoverage({ ...snapshot, multiHour }), coverage)) return "changed";
  }
  return { ofRecords, ofCalls };
}

/** SQL condition: calls of uncovered traces. `undefined` if the rollup covers all. */
function inUncoveredTraces(
  project: Project,
  { unmaterializedHours, unmaterializedSpanHours, spans }: RollupCoverage,
): Sql | undefined {
  const hours = [...unmaterializedHours, ...unmaterializedSpanHours];
  if (hours.length === 0) return undefined;
  return sql`(${hourIn(unmaterializedHours)} OR (hour, trace_id) IN ${keysOutside(project, hourIn(hours), spans)})`;
}
