import type { Engine } from "../../store/engine.ts";
import { param, sql, type Sql } from "../../query/sql.ts";

interface Rows {
  readonly table: Sql;
  readonly projects: readonly string[];
  readonly shard: number;
}

/**
 * A condition for the rows of some projects that are stored now, which holds for no row that is stored later; undefined: there are none.
 * The store numbers the inserts of a partition in their order, and keeps with each row the number of its insert. A statement with
 * this condition that comes late, or twice, changes nothing that was stored after it was made.
 */
export async function upToCurrentBlock(
  engine: Engine,
  { table, projects, shard }: Rows,
): Promise<Sql | undefined> {
  const newest = await engine.rows<{ partition: string; block: number }>(
    sql`SELECT _partition_id AS partition, max(_block_number) AS block FROM ${table}
        WHERE project_id IN ${param("Array(String)", projects)} GROUP BY partition ORDER BY partition`,
    { name: "mutation_bounds", limits: "maintenance", requireCurrent: true, tables: shard },
  );
  if (newest.length === 0) return undefined;
  const partitions = param(
    "Array(String)",
    newest.map(({ partition }) => partition),
  );
  const ends = param(
    "Array(UInt64)",
    newest.map(({ block }) => block + 1),
  );
  return sql`_block_number < transform(_partition_id, ${partitions}, ${ends}, toUInt64(0))`;
}
