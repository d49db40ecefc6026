import { join, param, sql, trusted, type Sql } from "../../../query/sql.ts";
import type { Engine } from "../../engine.ts";
import { MigrationError } from "../../migration-error.ts";
import { surveyCluster } from "../../schema/cluster-survey.ts";
import { isSameChecksum, rowChecksum, sumOfChecksums, type RowChecksum } from "../../rows/row-checksum.ts";
import { distributedDatabase, shardCountOf, DISTRIBUTED_TABLES } from "./shards.ts";

export interface CopyOptions {
  /** Store to copy, on the same servers; its reads must see all acknowledged rows. `from`: its database. */
  readonly source: Engine;
  readonly from: string;
  readonly cluster: string;
  /** Approximate rows copied and compared at once. Default: 1,000,000. */
  readonly rowsPerSlice?: number;
  readonly report?: (table: string, rows: number) => void;
}

/** Not copied: row fingerprints, which would add up if a row is copied twice, and the rollup derived from their sums. */
const NOT_COPIED = { column: "fingerprint", table: "usage_rollup" };
const COPIED = DISTRIBUTED_TABLES.filter((table) => table !== NOT_COPIED.table);
const ROWS_PER_SLICE = 1_000_000;

/**
 * Copies a store with any number of shards into this empty one, and compares every column of every row. Neither may be
 * written to. An interrupted copy can be repeated: duplicate rows merge. Throws `MigrationError` if the source has another
 * version or running deletions, or the copy differs. Cost: O(rows).
 */
export async function reshardStore(engine: Engine, options: CopyOptions): Promise<void> {
  const { source } = options;
  const target = await layoutOf(engine, options.cluster);
  const sources = await sourcesOf(options);
  await checkSource(engine, options, sources);
  const copy: Copy = {
    engine,
    source,
    from: options.from,
    sources,
    target,
    rowsPerSlice: options.rowsPerSlice ?? ROWS_PER_SLICE,
  };
  for (const table of await tablesOf(options, sources[0]!)) {
    let rows = 0;
    for (const slice of await slicesOf(copy, table)) rows += await copySlice(copy, table, slice);
    options.report?.(table.table, rows);
  }
}

interface Copy {
  readonly engine: Engine;
  readonly source: Engine;
  readonly from: string;
  /** Shards of the source. */
  readonly sources: readonly number[];
  readonly target: { readonly database: string; readonly shards: number; readonly replicas: number };
  readonly rowsPerSlice: number;
}
interface Table {
  readonly table: string;
  readonly columns: readonly string[];
  readonly sorting_key: string;
}
interface Slice {
  readonly partition: string;
  readonly slice: number;
  readonly slices: number;
}

const named = (name: string): Sql => trusted(`\`${name.replaceAll(/[\\`]/g, "\\$&")}\``);

async function layoutOf(engine: Engine, cluster: string): Promise<Copy["target"]> {
  const [row] = await engine.rows<{ own: string; shards: number; replicas: number }>(
    sql`SELECT currentDatabase() AS own, ${shardCountOf(cluster)} AS shards, toUInt32(max(replica_num)) AS replicas
        FROM system.clusters WHERE cluster = ${param("String", cluster)}`,
    { name: "copy_layout", tables: "local" },
  );
  const { own, shards, replicas } = row!;
  return { database: shards > 1 ? distributedDatabase(own, shards) : own, shards, replicas };
}

/** Lists the shards of the source. Throws `MigrationError` if one has no tables. */
async function sourcesOf({ source, from, cluster }: CopyOptions): Promise<readonly number[]> {
  const nodes = await surveyCluster(source, cluster);
  const shards = Math.max(1, ...nodes.flatMap((node) => node.shardCounts));
  const sources = Array.from({ length: shards }, (_, index) => index + 1);
  for (const shard of sources) {
    const ofShard = nodes.filter((node) => node.shard === shard);
    if (ofShard.some((node) => node.tables.length > 0)) continue;
    const names = ofShard.map(({ name }) => name).join(", ");
    throw new MigrationError(`There is no store in the database ${from} of shard ${shard}: ${names}.`);
  }
  return sources;
}

async function checkSource(
  engine: Engine,
  { source, from }: CopyOptions,
  sources: readonly number[],
): Promise<void> {
  const applied = (store: Engine, shard: number) =>
    store.rows<{ name: string }>(sql`SELECT name FROM schema_migrations FINAL ORDER BY name`, {
      name: "copy_version",
      tables: shard,
      requireCurrent: true,
    });
  for (const shard of sources) {
    const [ours, theirs] = [await applied(engine, shard), await applied(source, shard)];
    if (JSON.stringify(ours) !== JSON.stringify(theirs))
      throw new MigrationError(
        `The store in ${from} is of another version: migrate it before its cluster grows.`,
      );
    const [row] = await source.rows<{ n: number }>(
      sql`SELECT (SELECT count() FROM system.mutations WHERE database = currentDatabase() AND NOT is_done) +
            (SELECT count() FROM deletions FINAL WHERE step = 1) AS n`,
      { name: "copy_deletions", tables: shard, requireCurrent: true },
    );
    if (row!.n > 0)
      throw new MigrationError(`Deletions are under way in ${from}: wait until their receipts are done.`);
  }
}

function tablesOf({ source, from }: CopyOptions, shard: number): Promise<Table[]> {
  return source.rows<Table>(
    sql`SELECT name AS table, sorting_key, (SELECT groupArray((table, name)) FROM
            (SELECT table, name FROM system.columns WHERE database = ${param("String", from)} ORDER BY position)) AS all,
          arrayMap(one -> one.2, arrayFilter(one -> one.1 = name AND one.2 != ${param("String", NOT_COPIED.column)}, all)) AS columns
        FROM system.tables WHERE database = ${param("String", from)} AND name IN ${param("Array(String)", COPIED)} ORDER BY name`,
    { name: "copy_tables", tables: shard },
  );
}

async function slicesOf(
  { source, sources, rowsPerSlice }: Copy,
  { table }: Table,
): Promise<readonly Slice[]> {
  const largest = new Map<string, number>();
  for (const shard of sources) {
    const rows = await source.rows<{ partition: string; n: number }>(
      sql`SELECT _partition_id AS partition, count() AS n FROM ${named(table)} GROUP BY partition ORDER BY partition`,
      { name: "copy_partitions", tables: shard, limits: "maintenance", requireCurrent: true },
    );
    for (const { partition, n } of rows) largest.set(partition, Math.max(n, largest.get(partition) ?? 0));
  }
  return [...largest].flatMap(([partition, n]) => {
    const slices = Math.ceil(n / rowsPerSlice);
    return Array.from({ length: slices }, (_, slice) => ({ partition, slice, slices }));
  });
}

/** Copies and compares a slice. Returns its number of rows. */
async function copySlice(copy: Copy, table: Table, slice: Slice): Promise<number> {
  const { engine, source, from, sources, target } = copy;
  const columns = join(table.columns.map(named), ", ");
  const goal = sql`${named(target.database)}.${named(table.table)}`;
  const within = sql`_partition_id = ${param("String", slice.partition)}
    AND cityHash64(${trusted(table.sorting_key)}) % ${param("UInt64", slice.slices)} = ${param("UInt64", slice.slice)}`;
  const checksumIn = (store: Engine, rows: Sql, shard: number): Promise<RowChecksum> =>
    rowChecksum(store, table.columns.map(named), sql`${rows} FINAL WHERE ${within}`, {
      name: "copy_check",
      tables: shard,
      requireCurrent: true,
    });
  const expected: RowChecksum[] = [];
  for (const shard of sources) {
    await source.command(
      sql`INSERT INTO ${goal} (${columns}) SELECT ${columns} FROM ${named(table.table)} FINAL WHERE ${within}
          SETTINGS distributed_foreground_insert = 1, max_partitions_per_insert_block = 0, max_insert_threads = 1,
            apply_mutations_on_fly = 1, insert_quorum = ${trusted(String(target.replicas > 1 ? target.replicas : 0))}`,
      { name: "copy_rows", limits: "maintenance", tables: shard, requireCurrent: true },
    );
    expected.push(await checksumIn(source, named(table.table), shard));
  }
  const copied = await checksumIn(engine, goal, sources[0]!);
  const original = sumOfChecksums(expected);
  if (!isSameChecksum(copied, original)) {
    throw new MigrationError(
      `The copy of ${table.table} has ${copied.rows} rows of ${original.rows}, or others. The store in ${from} is as it was. ` +
        "Was this one empty, and did nothing write to either? Drop it, create it again and repeat the copy.",
    );
  }
  return copied.rows;
}
