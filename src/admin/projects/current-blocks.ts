import type { Engine } from "../../store/engine.ts";
import { param, sql, type Sql } from "../../query/sql.ts";

interface Rows {
  readonly table: Sql;
  readonly projects: readonly string[];
  readonly shard: number;
}

/**
 * SQL predicate of the rows of some projects that are stored now, and of no later row; undefined if there are none. It uses
 * the number of the insert that ClickHouse keeps with each row (`_block_number`), so a late or repeated statement changes
 * nothing that was stored after it was built.
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
