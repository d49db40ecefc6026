import type { Project } from "../shared/project.ts";
import type { HourRange } from "./bounds/time-range.ts";
import { param, sql, type Sql } from "./sql.ts";

/** Start or end hour of a call, spelled as in the projection `hour_fingerprints` of `calls`, which serves it. */
export const AT_HOUR = {
  started: sql`dateDiff('hour', toDateTime64(0, 0, 'UTC'), started_at)`,
  ended: sql`dateDiff('hour', toDateTime64(0, 0, 'UTC'), ended_at)`,
} as const;

export interface InHours {
  readonly kind: keyof typeof AT_HOUR;
  readonly range: HourRange;
}

/** True for the parts of calls that say so. `ofProjects`: a condition on `project_id`. */
export function eventInHours(ofProjects: Sql, { kind, range: { from, to } }: InHours): Sql {
  return sql`${ofProjects} AND ${AT_HOUR[kind]} BETWEEN ${param("Int64", from)} AND ${param("Int64", to)}`;
}

/**
 * Selects the hour buckets of calls that started or ended in some hours: a superset, because unmerged events may be outdated.
 * Ignores pending deletions, because the engine would read all rows instead of the projection.
 */
export function hourBucketsOf(ofProjects: Sql, inHours: InHours): Sql {
  return sql`SELECT hour FROM calls WHERE ${eventInHours(ofProjects, inHours)} GROUP BY hour SETTINGS apply_mutations_on_fly = 0`;
}

export function ofProject(project: Project): Sql {
  return sql`project_id = ${param("String", project)}`;
}
