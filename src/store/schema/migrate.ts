import { setTimeout as delay } from "node:timers/promises";
import { sql, trusted } from "../../query/sql.ts";
import { missingReplicas } from "../cluster/missing-replicas.ts";
import { shardLayout } from "../cluster/shards/shards.ts";
import type { Engine } from "../engine.ts";
import { MigrationError } from "../migration-error.ts";
import { StorageError } from "../storage-error.ts";
import { isOlder, MIN_SERVER_VERSION } from "../transport/server-version.ts";
import { createDistributedTables, createShardsDatabase, readShards } from "./distributed-tables.ts";
import { appliedMigrations, checksumOf, readMigrations, statementsOf, type Migration } from "./migrations.ts";
import { startProgress, type OnWait, type Progress } from "./progress.ts";

export interface MigrateOptions {
  /** Cluster of the replicated tables; `undefined` for one node. */
  readonly cluster: string | undefined;
  /** Migrations after 1.0. Default: the files. */
  readonly later?: readonly Migration[];
  /** Called with the reason of a wait. */
  readonly onWait?: OnWait;
}

/** Time in which the servers of a cluster, and ClickHouse Keeper, may start. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 200;
/** NO_ZOOKEEPER, TABLE_IS_READ_ONLY, KEEPER_EXCEPTION */
const NO_KEEPER = new Set(["225", "242", "999"]);
/** Wrong user, password or database: waiting does not help. */
const FINAL = new Set(["81", "192", "193", "194", "497", "516"]);

/**
 * Applies missing migrations in order and returns their names: 1.0 creates all tables, others alter them. Each is idempotent,
 * so several processes may start at once and a killed one may restart. In a cluster it waits for servers; without missing
 * migrations it runs no DDL, so a replica may be down. Throws `MigrationError` if the store cannot be used by this version.
 */
export async function migrate(engine: Engine, options: MigrateOptions): Promise<readonly string[]> {
  const progress = startProgress(options.onWait);
  try {
    if (options.cluster === undefined) return await migrateOnce(engine, options, progress);
    for (let giveUpMs = performance.now() + PATIENCE_MS; ; await delay(PAUSE_MS)) {
      const beganMs = performance.now();
      try {
        return await migrateOnce(engine, options, progress);
      } catch (error) {
        if (!isTransient(error)) throw error;
        if (performance.now() - beganMs > PATIENCE_MS) giveUpMs = performance.now() + PATIENCE_MS;
        const isKeeper = NO_KEEPER.has(error.engineCode ?? "");
        const problem = isKeeper ? "ClickHouse Keeper does not respond" : error.detail;
        if (performance.now() > giveUpMs) throw new MigrationError(`The store is not ready: ${problem}.`);
        progress.waits(problem);
      }
    }
  } finally {
    progress.end();
  }
}

function isTransient(error: unknown): error is StorageError {
  if (!(error instanceof StorageError) || FINAL.has(error.engineCode ?? "")) return false;
  return error.kind === "unavailable" || error.kind === "read_only";
}

async function migrateOnce(
  engine: Engine,
  options: MigrateOptions,
  progress: Progress,
): Promise<readonly string[]> {
  const { cluster } = options;
  const version = await engine.version();
  if (isOlder(version))
    throw new MigrationError(
      `ClickHouse is version ${version}; Sumtree needs ${MIN_SERVER_VERSION} or newer.`,
    );
  progress.begins("reading the applied migrations");
  const shards = cluster === undefined ? await requireOneShard(engine) : await readShards(engine, cluster);
  const migrations = readMigrations(options.later);
  const applied = await appliedMigrations(engine, { name: "migrate_applied" });
  checkApplied(migrations, applied);
  const missing = migrations.filter(({ name }) => !applied.has(name));
  if (missing.length === 0) return [];
  if (cluster !== undefined) await requireAllReplicas(engine, cluster, missing[0]!);
  progress.begins(`applying ${missing.map(({ name }) => name).join(", ")}`);
  if (cluster !== undefined && shards > 1) await createShardsDatabase(engine, cluster, shards);
  await runStatements(engine, migrationsTable, cluster);
  for (const migration of missing) {
    await runStatements(engine, migration, cluster);
    if (cluster !== undefined && shards > 1) await createDistributedTables(engine, cluster, shards);
    await engine.insert("schema_migrations", [{ name: migration.name, checksum: checksumOf(migration) }], {
      name: "migrate_record",
      tables: "per_shard",
    });
  }
  return missing.map(({ name }) => name);
}

async function runStatements(
  engine: Engine,
  migration: Migration,
  cluster: string | undefined,
): Promise<void> {
  for (const statement of statementsOf(migration, { cluster })) {
    // INSERT … SELECT runs on each shard; DDL has ON CLUSTER
    const tables = statement.startsWith("INSERT") ? "per_shard" : "local";
    await engine.command(trusted(statement), { name: `migrate_${migration.name.slice(0, 4)}`, tables });
  }
}

/** Throws for a sharded store opened without its cluster: one shard would be read as the whole store. */
async function requireOneShard(engine: Engine): Promise<number> {
  const [row] = await engine.rows<{ shards: readonly number[] }>(sql`SELECT (${shardLayout}) AS shards`, {
    name: "migrate_shards",
    tables: "local",
  });
  if (row!.shards.length === 0) return 1;
  throw new MigrationError(
    `The store has ${row!.shards.join(" and ")} shards: set CLICKHOUSE_CLUSTER to its cluster.`,
  );
}

/** Throws `StorageError` if a replica is down: whether it executed a statement could not be determined. */
async function requireAllReplicas(engine: Engine, cluster: string, { name }: Migration): Promise<void> {
  const away = await missingReplicas(engine, cluster);
  if (away.length === 0) return;
  const problem = `migration ${name} needs every replica, and ${away.join(", ")} does not respond`;
  throw new StorageError("unavailable", "migrate_replicas", undefined, problem);
}

/** Lists the migrations of this version that the store lacks. Throws `StorageError`. */
export async function missingMigrations(engine: Pick<Engine, "rows">): Promise<readonly string[]> {
  const applied = await appliedMigrations(engine, { name: "migrate_applied" });
  return readMigrations().flatMap(({ name }) => (applied.has(name) ? [] : [name]));
}

const migrationsTable: Migration = {
  name: "table",
  text: `CREATE TABLE IF NOT EXISTS schema_migrations {{on_cluster}}
(name String, checksum String, applied_at DateTime64(3, 'UTC') DEFAULT now64(3))
ENGINE = {{engine:ReplacingMergeTree}} ORDER BY name
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`,
};

function checkApplied(migrations: readonly Migration[], applied: ReadonlyMap<string, string>): void {
  const known = new Map(migrations.map((migration) => [migration.name, checksumOf(migration)]));
  for (const [name, checksum] of applied) {
    const ours = known.get(name);
    if (ours === undefined) {
      throw new MigrationError(
        `The store has migration ${name}, which this version does not know: start the newer version.`,
      );
    }
    if (ours !== checksum)
      throw new MigrationError(`Migration ${name} was changed after it was applied. Restore the file.`);
  }
}
