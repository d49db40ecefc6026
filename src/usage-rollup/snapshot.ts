import type { HourRange } from "../query/bounds/time-range.ts";
import type { Sql } from "../query/sql.ts";
import type { RollupSnapshot } from "./coverage.ts";
import { readFingerprints } from "./fingerprints.ts";
import { readManifests } from "./manifests.ts";
import { hourBetween, hourIn, hoursIn, MAX_SPAN_HOURS, readHourBuckets, type Reading } from "./hours.ts";
import { readMultiHourTraceSets, type MultiHourTraceSet } from "./multi-hour-traces.ts";

interface WindowSnapshot extends RollupSnapshot {
  readonly rereadMultiHourTraces: () => Promise<readonly MultiHourTraceSet[]>;
}

/**
 * Reads the snapshot of the traces with calls started in `started`. `margin`: other calls of these traces within so many hours
 * are read too. Nearly all calls are stored under the hour they started in, so it reads the hours of `started` while resolving
 * the hour buckets, and reads again only if there are other buckets.
 */
export async function readSnapshot(
  reading: Reading,
  started: HourRange,
  margin: number,
): Promise<WindowSnapshot> {
  const within = (by: number): Sql => hourBetween({ from: started.from - by, to: started.to + by });
  const [buckets, guessed] = await Promise.all([
    readHourBuckets(reading, started),
    readSnapshotOf(reading, within(margin), within(margin + MAX_SPAN_HOURS)),
  ]);
  const hours = around(buckets, margin);
  const isGuessed = buckets.every((hour) => hour >= started.from && hour <= started.to);
  const read = isGuessed
    ? guessed
    : await readSnapshotOf(reading, hourIn(hours), hourIn(around(hours, MAX_SPAN_HOURS)));
  const stored = hours.filter((hour) => read.fingerprints.hasRows(hour));
  return { ...read, hours: stored, requested: new Set(buckets) };
}

/** Returns the hours within `margin` of one of the hours. */
function around(hours: readonly number[], margin: number): readonly number[] {
  return [...new Set(hours.flatMap((hour) => hoursIn({ first: hour - margin, last: hour + margin })))];
}

/** `hours`, `nearby`: conditions on `hour`; `nearby` includes all hours of the spans found under `hours`. */
async function readSnapshotOf(
  reading: Reading,
  hours: Sql,
  nearby: Sql,
): Promise<Omit<WindowSnapshot, "hours" | "requested">> {
  const rereadMultiHourTraces = (): Promise<readonly MultiHourTraceSet[]> =>
    readMultiHourTraceSets(reading, hours, "usage_rollup_compare");
  const [manifests, fingerprints, multiHour] = await Promise.all([
    readManifests(reading, hours),
    readFingerprints(reading, nearby),
    readMultiHourTraceSets(reading, hours, "usage_rollup_multi_hour"),
  ]);
  return { manifests, fingerprints, multiHour, rereadMultiHourTraces };
}
