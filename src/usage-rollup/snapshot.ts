import type { Engine } from "../store/engine.ts";
import type { HourRange } from "../query/index.ts";
import type { Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";
import type { RollupSnapshot } from "./coverage.ts";
import { readFingerprints } from "./fingerprints.ts";
import { readManifests } from "./manifests.ts";
import { hourBetween, hourIn, hoursIn, MAX_SPAN_HOURS, readHourBuckets } from "./hours.ts";
import { readMultiHourTraceSets, type MultiHourTraceSet } from "./multi-hour-traces.ts";

export interface WindowSnapshot extends RollupSnapshot {
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
  const { engine, project, signal } = reading;
  const within = (by: number): Sql => hourBetween({ from: started.from - by, to: started.to + by });
  const [buckets, guessed] = await Promise.all([
    readHourBuckets(engine, project, started, { name: "usage_rollup_key_hours", signal }),
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

interface Reading {
  readonly engine: Engine;
  readonly project: Project;
  readonly signal: AbortSignal;
}

/** `hours`, `nearby`: conditions on `hour`; `nearby` includes all hours of the spans found under `hours`. */
async function readSnapshotOf(
  { engine, project, signal }: Reading,
  hours: Sql,
  nearby: Sql,
): Promise<Omit<WindowSnapshot, "hours" | "requested">> {
  const rereadMultiHourTraces = (): Promise<readonly MultiHourTraceSet[]> =>
    readMultiHourTraceSets(engine, project, hours, { name: "usage_rollup_compare", signal });
  const [manifests, fingerprints, multiHour] = await Promise.all([
    readManifests(engine, project, hours, signal),
    readFingerprints(engine, project, nearby, { name: "usage_rollup_fingerprints", signal }),
    readMultiHourTraceSets(engine, project, hours, { name: "usage_rollup_multi_hour", signal }),
  ]);
  return { manifests, fingerprints, multiHour, rereadMultiHourTraces };
}
