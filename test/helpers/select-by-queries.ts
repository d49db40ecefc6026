import type { Engine } from "../../src/store/engine.ts";
import { compileQuery } from "../../src/query/compile.ts";
import { join, param, sql } from "../../src/query/sql.ts";
import type { Project } from "../../src/shared/project.ts";

const PER_STATEMENT = 80;

/** The ids of the calls that each of the queries selects, in order; many queries in one statement. */
export async function selectByQueries(
  engine: Engine,
  project: Project,
  queries: readonly object[],
): Promise<string[][]> {
  const selected: string[][] = [];
  for (let from = 0; from < queries.length; from += PER_STATEMENT) {
    const chunk = queries.slice(from, from + PER_STATEMENT);
    const conditions = chunk.map((query) => {
      return sql`ifNull(${compileQuery(query, { project }).condition}, 0)`;
    });
    const rows = await engine.rows<{ id: string; found: number[] }>(
      sql`SELECT id, [${join(conditions, ", ")}] AS found FROM calls FINAL
          WHERE project_id = ${param("String", project)} ORDER BY id`,
      { name: "test_select" },
    );
    for (const index of chunk.keys()) {
      selected.push(rows.filter((row) => row.found[index] === 1).map((row) => row.id));
    }
  }
  return selected;
}
