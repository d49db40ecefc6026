import { join, sql, type Sql } from "../../query/sql.ts";
import type { Engine, QueryOptions } from "../engine.ts";

/** Order-independent checksum: number of rows and sum of their hashes modulo 2^64. */
export interface RowChecksum {
  readonly rows: number;
  readonly sum: bigint;
}

const UINT64 = 2n ** 64n;

/** Computes the checksum over `columns` of the rows in the FROM clause `from`. Cost: O(rows). */
export async function rowChecksum(
  engine: Engine,
  columns: readonly Sql[],
  from: Sql,
  options: QueryOptions,
): Promise<RowChecksum> {
  const texts = columns.map((column) => sql`ifNull(toString(${column}), '\\0')`);
  const [row] = await engine.rows<{ n: number; sum: string }>(
    sql`SELECT count() AS n, toString(sum(cityHash64([${join(texts, ", ")}]))) AS sum FROM ${from}`,
    { ...options, limits: "maintenance" },
  );
  return { rows: row!.n, sum: BigInt(row!.sum) };
}

export function sumOfChecksums(all: readonly RowChecksum[]): RowChecksum {
  return {
    rows: all.reduce((rows, one) => rows + one.rows, 0),
    sum: all.reduce((sum, one) => sum + one.sum, 0n),
  };
}

export function isSameChecksum(a: RowChecksum, b: RowChecksum): boolean {
  return a.rows === b.rows && (a.sum - b.sum) % UINT64 === 0n;
}
