import type { Engine } from "../store/engine.ts";
import type { HourRange } from "../query/index.ts";
import { hourBucketsOf, ofProject } from "../query/hour-buckets.ts";
import { param, sql, type Sql } from "../query/sql.ts";
import type { Project } from "../shared/project.ts";

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

/** Reads the hour buckets, ascending, of calls started in `started`.. */
export async function readHourBuckets(
  engine: Engine,
  project: Project,
  started: HourRange,
  options: { readonly name: string; readonly signal?: AbortSignal },
): Promise<readonly number[]> {
  const rows = await engine.rows<{ hour: number }>(
    hourBucketsOf(ofProject(project), { kind: "started", range: started }),
    { ...options, limits: "heavy", dependsOn: ["calls"] },
  );
  return rows.map(({ hour }) => hour).sort((a, b) => a - b);
}
