import type { Engine } from "../src/store/engine.ts";
import { sql, trusted, type Sql } from "../src/query/sql.ts";

/** For calls that were inserted by SQL: notes their places, as the writer does before it writes. */
export async function noteFilled(engine: Engine, project: string, where: Sql = sql`1`): Promise<void> {
  const run = (statement: Sql): Promise<void> =>
    engine.command(statement, { name: "bench_note", limits: "maintenance" });
  const from = sql`FROM calls WHERE project_id = '${trusted(project)}' AND ${where}`;
  await run(
    sql`INSERT INTO call_keys SELECT project_id, id, trace_id, hour ${from} AND started_at IS NOT NULL`,
  );
  await run(sql`INSERT INTO trace_hours SELECT DISTINCT project_id, trace_id, hour ${from}`);
  await run(sql`INSERT INTO multi_hour_traces SELECT project_id, hour, trace_id FROM trace_hours
    WHERE project_id = '${trusted(project)}' AND trace_id IN
      (SELECT trace_id FROM trace_hours WHERE project_id = '${trusted(project)}' GROUP BY trace_id HAVING uniq(hour) > 1)`);
}
