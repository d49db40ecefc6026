import type { Engine } from "../store/engine.ts";
import type { HourRange } from "../query/index.ts";
import type { Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";
import type { RollupSnapshot } from "./coverage.ts";
import { readFingerprints } from "./fingerprints.ts";
import { MAX_SPAN_HOURS } from "./hour-span.ts";
import { readManifests } from "./manifests.ts";
import { hourIn, readHourBuckets, hourBetween } from "./hour.ts";
import { readMultiHourTraceSets, type MultiHourTraceSet } from "./multi-hour-traces.ts";

export interface WindowSnapshot extends RollupSnapshot {
  readonly rereadMultiHourTraces: () => Promise<readonly MultiHourTraceSet[]>;
}

/** Reads the snapshot of the calls started in `started`. */
export async function readSnapshot(
  engine: Engine,
  project: Project,
  started: HourRange,
  signal: AbortSignal,
): Promise<WindowSnapshot> {
  return (await readAround({ engine, project, signal }, started, 0)).snapshot;
}

/** Reads the snapshot of the traces with calls started in `started`: of these hours, and of all in which such traces may have calls. */
export async function readTraceSnapshot(
  engine: Engine,
  project: Project,
  started: HourRange,
  signal: AbortSignal,
): Promise<WindowSnapshot> {
  const { requested, snapshot } = await readAround({ engine, project, signal }, started, MAX_SPAN_HOURS);
  return { ...snapshot, requested: new Set(requested) };
}

/**
 * Reads the hour buckets of the calls started in `started`, and the snapshot of the hours within `margin` of these. Nearly all
 * calls are stored under the hour they started in, so it reads the hours of `started` while resolving the hour buckets, and
 * reads again only if there are other buckets.
 */
async function readAround(
  reading: Reading,
  started: HourRange,
  margin: number,
): Promise<{ readonly requested: readonly number[]; readonly snapshot: WindowSnapshot }> {
  const { engine, project, signal } = reading;
  const within = (by: number): Sql => hourBetween({ from: started.from - by, to: started.to + by });
  const [requested, snapshot] = await Promise.all([
    readHourBuckets(engine, project, started, { name: "usage_rollup_key_hours", signal }),
    readSnapshotOf(reading, within(margin), within(margin + MAX_SPAN_HOURS)),
  ]);
  const hours = around(requested, margin);
  if (requested.every((hour) => hour >= started.from && hour <= started.to))
    return { requested, snapshot: withRows(hours, snapshot) };
  const again = await readSnapshotOf(reading, hourIn(hours), hourIn(around(hours, MAX_SPAN_HOURS)));
  return { requested, snapshot: withRows(hours, again) };
}

/** Returns the hours within `margin` of one of the hours. */
function around(hours: readonly number[], margin: number): readonly number[] {
  return [...new Set(hours.flatMap((hour) => range(hour - margin, hour + margin)))];
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
): Promise<Omit<WindowSnapshot, "hours">> {
  const rereadMultiHourTraces = (): Promise<readonly MultiHourTraceSet[]> =>
    readMultiHourTraceSets(engine, project, hours, { name: "usage_rollup_compare", signal });
  const [manifests, fingerprints, multiHour] = await Promise.all([
    readManifests(engine, project, hours, signal),
    readFingerprints(engine, project, nearby, { name: "usage_rollup_fingerprints", signal }),
    readMultiHourTraceSets(engine, project, hours, { name: "usage_rollup_multi_hour", signal }),
  ]);
  return { manifests, fingerprints, multiHour, rereadMultiHourTraces };
}

function withRows(hours: readonly number[], snapshot: Omit<WindowSnapshot, "hours">): WindowSnapshot {
  const stored = new Set(snapshot.fingerprints.hours);
  return { ...snapshot, hours: hours.filter((hour) => stored.has(hour)) };
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}
