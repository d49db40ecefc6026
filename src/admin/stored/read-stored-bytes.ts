import type { Engine } from "../../store/engine.ts";
import { join, sql, type Sql } from "../../query/sql.ts";

/** Stored bytes per project and table, 128 bytes of overhead per row. Spelled as in the tables' projections, which serve it. */
const HELD: readonly Sql[] = [
  sql`SELECT project_id, sum(128 + length(ifNull(inputs, '')) + length(ifNull(attributes, '')) + length(ifNull(output, ''))
        + length(ifNull(summary, '')) + length(ifNull(exception, ''))) AS held FROM calls GROUP BY project_id`,
  sql`SELECT project_id, sum(128 + length(columns)) AS held FROM pending_call_events GROUP BY project_id`,
  sql`SELECT project_id, sum(128 + length(payload) + length(scorer)) AS held FROM feedback GROUP BY project_id`,
  sql`SELECT project_id, sum(128 + length(val)) AS held FROM objects GROUP BY project_id`,
  sql`SELECT project_id, sum(128 + length(val)) AS held FROM data_table_rows GROUP BY project_id`,
  sql`SELECT project_id, sum(128 + length(content)) AS held FROM file_chunks GROUP BY project_id`,
];

/** Reads the stored bytes of each project before compression, unmerged and not yet erased ones included. */
export async function readStoredBytes(engine: Pick<Engine, "rows">): Promise<ReadonlyMap<string, number>> {
  const rows = await engine.rows<{ project_id: string; bytes: number }>(
    sql`SELECT project_id, toFloat64(sum(held)) AS bytes FROM (${join(HELD, " UNION ALL ")}) GROUP BY project_id
        SETTINGS apply_mutations_on_fly = 0`,
    { name: "stored_bytes", limits: "heavy" },
  );
  return new Map(rows.map(({ project_id, bytes }) => [project_id, bytes]));
}
