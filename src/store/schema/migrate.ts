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
  /** Name of the cluster whose tables are replicated; undefined for one node. */
  readonly cluster: string | undefined;
  /** What comes after 1.0. Default: the files. */
  readonly later?: readonly Migration[];
  /** Hears what a migration waits for. */
  readonly onWait?: OnWait;
}

const TABLE = "schema_migrations";

/**
 * Applies the migrations that are missing, in order: 1.0 makes all tables, others change them. Returns their names. Each is
 * idempotent, so that several replicas may start at once and a killed one may start again. In a cluster, replicas that came
 * back empty get their tables first. Nothing is defined anew when nothing is missing, so that a replica may be away. Errors: a
 * file that was changed after it was applied; a store that a newer version has migrated; replicas that
 * must be there.
 */
export async function migrate(impatient: Engine, options: MigrateOptions): Promise<readonly string[]> {
  const progress = startProgress(options.onWait);
  try {
    return await migrateOnce(impatient, options, progress);
  } finally {
    progress.end();
  }
}

async function migrateOnce(
  impatient: Engine,
  options: MigrateOptions,
  progress: Progress,
): Promise<readonly string[]> {
  const { cluster } = options;
  const engine = cluster === undefined ? impatient : retryingEngine(impatient, progress);
  const nodes = cluster === undefined ? [] : await restored(engine, cluster, progress);
  progress.begins("the store's migrations are looked at");
  const arrange = async (): Promise<void> => {
    if (cluster !== undefined) await createDistributedTables(engine, { cluster, nodes });
  };
  if (cluster === undefined) await refuseShards(engine);
  const migrations = readMigrations(options.later);
  const missingIn = (applied: ReadonlyMap<string, string>): readonly Migration[] => {
    refuseUnknownOrChanged(migrations, applied);
    return migrations.filter((migration) => !applied.has(migration.name));
  };
  let missing = missingIn(await appliedChecksums(impatient, false));
  // waiting for a keeper helps only if something is missing
  if (missing.length > 0) missing = missingIn(await appliedNow(engine));
  if (missing.length === 0) {
    await arrange();
    return [];
  }
  refuseAbsence(nodes, missing[0]!);
  progress.begins(`${missing.map(({ name }) => name).join(", ")} is applied`);
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
  progress.begins(`the servers of cluster ${cluster} are asked what they have`);
  const nodes = await surveyCluster(engine, cluster);
  checkShardLayout(nodes);
  const { reads } = await engine.health();
  if (reads?.includes(NOT_NAMED)) throw new MigrationError(`The store cannot be used: ${reads}.`);
  await createShardsDatabase(engine, { cluster, nodes });
  const names = await recreateReplicaTables(engine, { cluster, nodes, progress });
  progress.begins("replicas without an entry in the keeper are looked for");
  await restoreKeeperMetadata(engine, cluster, nodes);
  // the tables just created are known from here on
  if (names.length > 0) await engine.health();
  return nodes;
}

/** Without the cluster, one shard would be taken for all. */
async function refuseShards(engine: Engine): Promise<void> {
  const [row] = await engine.rows<{ shards: readonly number[] }>(sql`SELECT (${shardLayout}) AS shards`, {
    name: "migrate_shards",
    tables: "local",
  });
  if (row!.shards.length === 0) return;
  throw new MigrationError(
    `The store has ${row!.shards.join(" and ")} shards: set CLICKHOUSE_CLUSTER to its cluster.`,
  );
}

/** Otherwise, statements that a replica has executed and those that it has not would look the same. */
function refuseAbsence(nodes: readonly ClusterNode[], { name }: Migration): void {
  const away = nodes.filter((node) => node.macro === undefined).map((node) => node.name);
  if (away.length === 0) return;
  throw new MigrationError(
    `Migration ${name} needs every replica, and ${away.join(", ")} does not answer. ` +
      "Start it, or take it out of the cluster's definition.",
  );
}

/** The store's migrations beside those of this version. */
export interface StoreMigrations {
  /** Those that the store does not have yet. */
  readonly missing: readonly string[];
  /** Those that a newer version has applied. */
  readonly unknown: readonly string[];
}

/** Compares them by name. Errors: `StorageError`. */
export async function compareMigrations(engine: Engine): Promise<StoreMigrations> {
  const applied = [...(await appliedChecksums(engine, false)).keys()];
  const known = readMigrations().map((migration) => migration.name);
  return {
    missing: known.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !known.includes(name)),
  };
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

/** What no replica knows more of. Errors: a replica's keeper does not answer. */
async function appliedNow(engine: Engine): Promise<ReadonlyMap<string, string>> {
  try {
    return await appliedChecksums(engine, true);
  } catch (error) {
    if (!isNotCurrent(error)) throw error;
    throw new MigrationError("Migrations are missing, and the store cannot be written to now.");
  }
}

async function appliedChecksums(
  engine: Engine,
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

function refuseUnknownOrChanged(
  migrations: readonly Migration[],
  applied: ReadonlyMap<string, string>,
): void {
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
