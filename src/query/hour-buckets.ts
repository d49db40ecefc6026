import type { Project } from "../shared/project.ts";
import type { HourRange } from "./bounds/time-range.ts";
import { param, sql, type Sql } from "./sql.ts";

/** The hour in which a call started, or ended: written as in the projection `hour_fingerprints` of `calls`, so that it is read of that. */
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
 * The hours under which those calls lie that started, or ended, in some hours: a superset, because a part that is not merged yet
 * may say what a later one has changed. Deletions that wait are not applied, since then the engine would read all rows
 * instead of the projection.
 */
export function hourBucketsOf(ofProjects: Sql, inHours: InHours): Sql {
  return sql`SELECT hour FROM calls WHERE ${eventInHours(ofProjects, inHours)} GROUP BY hour SETTINGS apply_mutations_on_fly = 0`;
}

export function ofProject(project: Project): Sql {
  return sql`project_id = ${param("String", project)}`;
}
