import { ofProject } from "../../query/hour-buckets.ts";
import { IS_ROOT, IS_VISIBLE, MAY_BE_ROOT } from "../../query/fields/columns.ts";
import { sql, type Sql } from "../../query/sql.ts";
import type { Project } from "../../shared/project.ts";
import type { Engine } from "../../store/engine.ts";

/**
 * SQL subquery of `trace_id` and `values`, a single JSON text of the root, for the traces with calls in `place`. JSON null is as
 * good as absent: ''.
 */
export function rootValues(project: Project, place: Sql, text: Sql): Sql {
  return sql`(SELECT trace_id, [transform(argMin(${text}, (started_at, id)), ['null'], [''])] AS values FROM calls FINAL
    PREWHERE ${ofProject(project)} AND ${place} AND (hour, trace_id, id) IN
      (SELECT hour, trace_id, id FROM calls WHERE ${ofProject(project)} AND ${place} AND ${MAY_BE_ROOT})
    WHERE ${IS_VISIBLE} AND ${IS_ROOT} GROUP BY trace_id)`;
}

/** Reads the rows of a subquery such as `rootValues`. */
export async function readValues(
  engine: Engine,
  values: Sql,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await engine.rows<{ trace_id: string; values: readonly string[] }>(
    sql`SELECT * FROM ${values}`,
    { name: "traces_values", limits: "heavy", signal },
  );
  return new Map(rows.map(({ trace_id, values: some }) => [trace_id, some]));
}
