import { param, sql, trusted } from "../../query/sql.ts";
import { applyMigrations } from "./apply-migrations.ts";
import { createDistributedTables, createShardsDatabase, checkShardLayout } from "./distributed-tables.ts";
import { surveyCluster, type ClusterNode } from "./cluster-survey.ts";
import type { Engine } from "../engine.ts";
import { checksumOf, readMigrations, statementsOf, type Migration } from "./migrations.ts";
import { MigrationError } from "../migration-error.ts";
import { NOT_NAMED } from "../cluster/replicas/replica-watch.ts";
import { restoreKeeperMetadata } from "./restore-keeper-metadata.ts";
import { retryingEngine } from "./retrying-engine.ts";
import { startProgress, type OnWait, type Progress } from "./progress.ts";
import { recreateReplicaTables } from "./recreate-tables.ts";
import { shardLayout } from "../cluster/shards/shards.ts";
import { isNotCurrent } from "../storage-error.ts";

export interface MigrateOptions {
  /** Cluster of the replicated tables; `undefined` for one node. */
  readonly cluster: string | undefined;
  /** Migrations after 1.0. Default: the files. */
  readonly later?: readonly Migration[];
  /** Called with the reason of a wait. */
  readonly onWait?: OnWait;
}

const TABLE = "schema_migrations";

/**
 * Applies missing migrations in order and returns their names: 1.0 creates all tables, others alter them. Each is idempotent,
 * so several processes may start at once and a killed one may restart. In a cluster, empty replicas get their tables first.
 * Without missing migrations it runs no DDL, so a replica may be down. Throws `MigrationError` for a file changed after it
 * was applied, a store migrated by a newer version, or a missing replica.
 */
export async function migrate(direct: Engine, options: MigrateOptions): Promise<readonly string[]> {
  const progress = startProgress(options.onWait);
  try {
    return await migrateOnce(direct, options, progress);
  } finally {
    progress.end();
  }
}

async function migrateOnce(
  direct: Engine,
  options: MigrateOptions,
  progress: Progress,
): Promise<readonly string[]> {
  const { cluster } = options;
  const engine = cluster === undefined ? direct : retryingEngine(direct, progress);
  const nodes = cluster === undefined ? [] : await restored(engine, cluster, progress);
  progress.begins("reading the applied migrations");
  const arrange = async (): Promise<void> => {
    if (cluster !== undefined) await createDistributedTables(engine, { cluster, nodes });
  };
  if (cluster === undefined) await requireOneShard(engine);
  const migrations = readMigrations(options.later);
  const missingIn = (applied: ReadonlyMap<string, string>): readonly Migration[] => {
    checkApplied(migrations, applied);
    return migrations.filter((migration) => !applied.has(migration.name));
  };
  let missing = missingIn(await appliedChecksums(direct, false));
  // waits for ClickHouse Keeper only if a migration is missing
  if (missing.length > 0) missing = missingIn(await appliedNow(engine));
  if (missing.length === 0) {
    await arrange();
    return [];
  }
  requireAllReplicas(nodes, missing[0]!);
  progress.begins(`applying ${missing.map(({ name }) => name).join(", ")}`);
  await engine.command(createMigrationsTable(options), { name: "migrate_table", tables: "local" });
  await applyMigrations(engine, { cluster, missing });
  await arrange();
  return missing.map((migration) => migration.name);
}

async function restored(
  engine: Engine,
  cluster: string,
  progress: Progress,
): Promise<readonly ClusterNode[]> {
  progress.begins(`surveying the servers of cluster ${cluster}`);
  const nodes = await surveyCluster(engine, cluster);
  checkShardLayout(nodes);
  const { reads } = await engine.health();
  if (reads?.includes(NOT_NAMED)) throw new MigrationError(`The store cannot be used: ${reads}.`);
  await createShardsDatabase(engine, { cluster, nodes });
  const names = await recreateReplicaTables(engine, { cluster, nodes, progress });
  progress.begins("searching for replicas without an entry in ClickHouse Keeper");
  await restoreKeeperMetadata(engine, cluster, nodes);
  // refreshes the probes, which then know the new tables
  if (names.length > 0) await engine.health();
  return nodes;
}

/** Throws for a sharded store opened without its cluster: one shard would be read as the whole store. */
async function requireOneShard(engine: Engine): Promise<void> {
  const [row] = await engine.rows<{ shards: readonly number[] }>(sql`SELECT (${shardLayout}) AS shards`, {
    name: "migrate_shards",
    tables: "local",
  });
  if (row!.shards.length === 0) return;
  throw new MigrationError(
    `The store has ${row!.shards.join(" and ")} shards: set CLICKHOUSE_CLUSTER to its cluster.`,
  );
}

/** Throws if a replica is down: whether it executed a statement could not be determined. */
function requireAllReplicas(nodes: readonly ClusterNode[], { name }: Migration): void {
  const away = nodes.filter((node) => node.macro === undefined).map((node) => node.name);
  if (away.length === 0) return;
  throw new MigrationError(
    `Migration ${name} needs every replica, and ${away.join(", ")} does not respond. ` +
      "Start it, or take it out of the cluster's definition.",
  );
}

/** Lists the migrations of this version that the store lacks. Throws `StorageError`. */
export async function missingMigrations(engine: Pick<Engine, "rows">): Promise<readonly string[]> {
  const applied = await appliedChecksums(engine, false);
  return readMigrations().flatMap(({ name }) => (applied.has(name) ? [] : [name]));
}

function createMigrationsTable(options: MigrateOptions) {
  const [statement] = statementsOf(
    {
      name: "table",
      text: `CREATE TABLE IF NOT EXISTS schema_migrations {{on_cluster}}
        (name String, checksum String, applied_at DateTime64(3, 'UTC') DEFAULT now64(3))
        ENGINE = {{engine:ReplacingMergeTree}} ORDER BY name
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`,
    },
    options,
  );
  return trusted(statement!);
}

/** Reads from a current replica. Throws `MigrationError` if there is none. */
async function appliedNow(engine: Engine): Promise<ReadonlyMap<string, string>> {
  try {
    return await appliedChecksums(engine, true);
  } catch (error) {
    if (!isNotCurrent(error)) throw error;
    throw new MigrationError("Migrations are missing, and the store cannot be written to now.");
  }
}

async function appliedChecksums(
  engine: Pick<Engine, "rows">,
  requireCurrent: boolean,
): Promise<ReadonlyMap<string, string>> {
  const [table] = await engine.rows<{ n: number }>(
    sql`SELECT count() AS n FROM system.tables
        WHERE database = currentDatabase() AND name = ${param("String", TABLE)}`,
    { name: "migrate_exists", tables: "local" },
  );
  if (table?.n === 0) return new Map();
  const rows = await engine.rows<{ name: string; checksum: string }>(
    sql`SELECT name, checksum FROM schema_migrations FINAL`,
    {
      name: "migrate_applied",
      requireCurrent,
      tables: "local",
    },
  );
  return new Map(rows.map((row) => [row.name, row.checksum]));
}

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
