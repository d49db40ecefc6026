import { ofProject } from "../../query/hour-buckets.ts";
import { param, sql } from "../../query/sql.ts";
import type { Project } from "../../shared/project.ts";
import type { Engine } from "../../store/engine.ts";

/** Reads the hour buckets of traces, by trace. */
export async function readTraceHours(
  engine: Engine,
  project: Project,
  traceIds: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const rows = await engine.rows<{ trace_id: string; hours: readonly number[] }>(
    sql`SELECT trace_id, groupUniqArray(hour) AS hours FROM trace_hours
      WHERE ${ofProject(project)} AND trace_id IN ${param("Array(String)", traceIds)} GROUP BY trace_id`,
    { name: "trace_hours", dependsOn: ["trace_hours"], signal },
  );
  return new Map(rows.map(({ trace_id, hours }) => [trace_id, hours]));
}
