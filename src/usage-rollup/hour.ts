import type { Engine } from "../store/engine.ts";
import type { HourRange } from "../query/index.ts";
import { hourBucketsOf, ofProject } from "../query/hour-buckets.ts";
import { param, sql, type Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";

/** An hour of a project, in hours since the epoch. */
export interface Hour {
  readonly project: Project;
  readonly hour: number;
}

/** An hour as one text. */
export function hourKey({ project, hour }: Hour): string {
  return `${hour} ${project}`;
}

/** A condition: one of some hours. */
export function hourIn(hours: readonly number[]): Sql {
  return sql`hour IN ${param("Array(Int64)", hours)}`;
}

/** A condition: one of a range of hours. */
export function hourBetween({ from, to }: HourRange): Sql {
  return sql`hour BETWEEN ${param("Int64", from)} AND ${param("Int64", to)}`;
}

/** The hours under which those calls lie that started in some hours, ascending. Never of a replica that may lack some. */
export async function readHourBuckets(
  engine: Engine,
  project: Project,
  started: HourRange,
  options: { readonly name: string; readonly signal?: AbortSignal },
): Promise<readonly number[]> {
  const rows = await engine.rows<{ hour: number }>(
    hourBucketsOf(ofProject(project), { kind: "started", range: started }),
    { ...options, limits: "heavy", requireCurrent: true },
  );
  return rows.map(({ hour }) => hour).sort((a, b) => a - b);
}
