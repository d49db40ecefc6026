import { param, sql } from "../../../query/sql.ts";
import type { Engine } from "../../engine.ts";
import { StorageError } from "../../storage-error.ts";

/** Range of block numbers that a replica has; numbers are equal on all replicas of a table. */
export interface StoredBlocks {
  /** Table and partition id: block numbers are unique within them. */
  readonly partition: string;
  readonly first: number;
  readonly last: number;
}

interface Row {
  readonly is_loaded: 0 | 1;
  readonly blocks: readonly (readonly [partition: string, first: number, last: number])[];
}

const NAME = "replica_blocks";

/** Reads the active blocks, without Keeper. Throws `StorageError`, also if a starting server has not loaded the table. */
export async function readStoredBlocks(
  engine: Engine,
  table: string,
  signal: AbortSignal,
): Promise<readonly StoredBlocks[]> {
  const here = sql`database = currentDatabase() AND table = ${param("String", table)}`;
  const [row] = await engine.rows<Row>(
    sql`WITH (SELECT count() FROM system.replicas WHERE ${here}) AS loaded
        SELECT loaded = 1 AS is_loaded, groupArray((partition_id, min_block_number, max_block_number)) AS blocks
        FROM system.parts WHERE ${here} AND active`,
    { name: NAME, tables: "local", signal },
  );
  if (row!.is_loaded === 0) throw new StorageError("unavailable", NAME, undefined, `${table} is not loaded`);
  return row!.blocks.map(([partition, first, last]) => ({ partition: `${table}/${partition}`, first, last }));
}

/**
 * True if `own` contains all of the others' blocks. May be false although they are equal: if a block number is unused and
 * only one replica has merged the blocks around it.
 */
export function containsBlocks(own: readonly StoredBlocks[], others: readonly StoredBlocks[]): boolean {
  const joined = new Map<string, StoredBlocks[]>();
  for (const blocks of own.toSorted((a, b) => a.first - b.first)) {
    const known = joined.get(blocks.partition) ?? [];
    const before = known.at(-1);
    if (before !== undefined && blocks.first <= before.last + 1)
      known[known.length - 1] = { ...before, last: Math.max(before.last, blocks.last) };
    else known.push(blocks);
    joined.set(blocks.partition, known);
  }
  return others.every(({ partition, first, last }) =>
    (joined.get(partition) ?? []).some((blocks) => blocks.first <= first && last <= blocks.last),
  );
}
