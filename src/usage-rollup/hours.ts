import type { Engine } from "../store/engine.ts";
import type { HourRange } from "../query/bounds/time-range.ts";
import { hourBucketsOf, ofProject } from "../query/hour-buckets.ts";
import { param, sql, type Sql } from "../query/sql.ts";
import { chunksOf } from "../shared/chunks-of.ts";
import type { Project } from "../shared/project.ts";

/** Project whose rows are read. */
export interface Reading {
  readonly engine: Engine;
  readonly project: Project;
  readonly signal: AbortSignal;
}

/** Hour bucket of a project; `hour` in hours since the epoch. */
export interface Hour {
  readonly project: Project;
  readonly hour: number;
}

export function hourKey({ project, hour }: Hour): string {
  return `${hour} ${project}`;
}

export function hourIn(hours: readonly number[]): Sql {
  return sql`hour IN ${param("Array(Int64)", hours)}`;
}

export function hourBetween({ from, to }: HourRange): Sql {
  return sql`hour BETWEEN ${param("Int64", from)} AND ${param("Int64", to)}`;
}

/** Reads the hour buckets, ascending, of calls started in `started`. */
export async function readHourBuckets(
  { engine, project, signal }: Reading,
  started: HourRange,
): Promise<readonly number[]> {
  const rows = await engine.rows<{ hour: number }>(
    hourBucketsOf(ofProject(project), { kind: "started", range: started }),
    { name: "usage_rollup_key_hours", limits: "heavy", dependsOn: ["calls"], signal },
  );
  return rows.map(({ hour }) => hour).sort((a, b) => a - b);
}

const HOURS_PER_CHUNK = 24;

/** Splits hours into chunks of one project, ascending. */
export function inChunks<Some extends Hour>(
  hours: readonly Some[],
): readonly { readonly project: Project; readonly hours: readonly Some[] }[] {
  return [...Map.groupBy(hours, ({ project }) => project)].flatMap(([project, ofProject]) => {
    const ascending = ofProject.toSorted((a, b) => a.hour - b.hour);
    return chunksOf(ascending, HOURS_PER_CHUNK).map((some) => ({ project, hours: some }));
  });
}

/**
 * Traces that are materialized together: those whose first and last call are stored under these hour buckets. If the two are
 * equal: traces stored under that hour only.
 */
export interface HourSpan {
  readonly first: number;
  readonly last: number;
}

/** Longer traces are always aggregated at query time. */
export const MAX_SPAN_HOURS = 48;

export function singleHour(hour: number): HourSpan {
  return { first: hour, last: hour };
}

export function isSingleHour({ first, last }: HourSpan): boolean {
  return first === last;
}

export function spanKey({ first, last }: HourSpan): string {
  return `${first}-${last}`;
}

/** Lists the hours from `first` to `last`. */
export function hoursIn({ first, last }: HourSpan): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
