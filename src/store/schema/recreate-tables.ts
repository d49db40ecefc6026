import { setTimeout as delay } from "node:timers/promises";
import { sql, trusted } from "../../query/sql.ts";
import type { ClusterNode, NodeTable } from "./cluster-survey.ts";
import type { Engine } from "../engine.ts";
import { MigrationError } from "../migration-error.ts";
import type { Progress } from "./progress.ts";
import { StorageError } from "../storage-error.ts";

/** REPLICA_ALREADY_EXISTS: ClickHouse Keeper has an entry of the replica, which lost its disk. */
const REPLICA_EXISTS = "253";
/** TABLE_WAS_NOT_DROPPED: the replica's Keeper session has not ended yet. */
const STILL_ACTIVE = "305";
const SESSION_ENDS_WITHIN_MS = 60_000;

/**
 * Creates missing tables on responding replicas that are new or have lost their disk, with the UUIDs of the other replicas,
 * so that they fetch the rows. Returns the names of these replicas. Throws `MigrationError` if replicas of one shard have
 * different stores, or no responding replica has the tables.
 */
export async function recreateReplicaTables(
  engine: Engine,
  { cluster, nodes, progress }: Restoring,
): Promise<readonly string[]> {
  checkSameTables(nodes);
  const model = nodes.toSorted((a, b) => b.tables.length - a.tables.length)[0]!;
  const restored: string[] = [];
  for (const node of nodes) {
    const missing = model.tables.filter((table) => !node.tables.some(({ name }) => name === table.name));
    if (node.macro === undefined || missing.length === 0) continue;
    progress.waits(`creating missing tables on replica ${node.name}`);
    if (!node.hasDatabase) await makeDatabase(engine, cluster);
    const peer = nodes.find(
      (other) => other.shard === node.shard && other.tables.length === model.tables.length,
    );
    for (const table of missing) {
      const keeperPath = peer?.tables.find(({ name }) => name === table.name)?.keeperPath;
      await restoreTable(engine, { cluster, node, table, keeperPath, progress });
    }
    restored.push(node.name);
  }
  return restored;
}

function makeDatabase(engine: Engine, cluster: string): Promise<void> {
  return engine
    .rows<{ name: string }>(sql`SELECT currentDatabase() AS name`, {
      name: "restore_database",
      tables: "local",
    })
    .then((rows) =>
      engine.command(trusted(`CREATE DATABASE IF NOT EXISTS \`${rows[0]!.name}\` ON CLUSTER '${cluster}'`), {
        name: "restore_database",
        tables: "local",
      }),
    );
}

interface Restoring {
  readonly cluster: string;
  readonly nodes: readonly ClusterNode[];
  readonly progress: Progress;
}

interface Missing extends Omit<Restoring, "nodes"> {
  readonly node: ClusterNode;
  readonly table: NodeTable;
  /** ClickHouse Keeper path reported by a replica of the same shard. */
  readonly keeperPath: string | undefined;
}

/** Creates a table with IF NOT EXISTS on the whole cluster, so concurrent starts do not conflict. */
async function restoreTable(engine: Engine, missing: Missing): Promise<void> {
  const { cluster, node, table, keeperPath, progress } = missing;
  for (const until = performance.now() + SESSION_ENDS_WITHIN_MS; ; await delay(1000)) {
    try {
      await engine.command(trusted(onCluster(table.statement, cluster)), {
        name: "restore_table",
        tables: "local",
      });
      return;
    } catch (error) {
      if (!isCode(error, REPLICA_EXISTS)) throw error;
      if (keeperPath === undefined) {
        throw new MigrationError(
          `Replica ${node.name} has lost its tables, and no other replica of shard ${node.shard} that has them responds: start one.`,
        );
      }
      await dropKeeperEntry(engine, node.macro!, keeperPath).catch((failure: unknown) => {
        if (!isCode(failure, STILL_ACTIVE) || performance.now() > until) throw failure;
        progress.waits(`waiting for the ClickHouse Keeper session of replica ${node.name} to expire`);
      });
    }
  }
}

/** Removes a replica's Keeper entry: safe, because the replica reported that it lacks the table. Fails while it is active. */
function dropKeeperEntry(engine: Engine, replica: string, keeperPath: string): Promise<void> {
  return engine.command(sql`SYSTEM DROP REPLICA ${literal(replica)} FROM ZKPATH ${literal(keeperPath)}`, {
    name: "restore_drop_replica",
    tables: "local",
  });
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof StorageError && error.engineCode === code;
}

/** Quotes text: `SYSTEM` statements take no parameters. Both texts come from the cluster's configuration. */
function literal(text: string) {
  return trusted(`'${text.replaceAll(/[\\']/g, "\\$&")}'`);
}

/** Rewrites `CREATE TABLE a.b UUID '…' (` to `CREATE TABLE IF NOT EXISTS a.b UUID '…' ON CLUSTER 'c' (`. */
export function onCluster(statement: string, cluster: string): string {
  return statement.replace(
    /^CREATE TABLE (\S+(?: UUID '[\da-f-]+')?)/,
    `CREATE TABLE IF NOT EXISTS $1 ON CLUSTER '${cluster}'`,
  );
}

/** Throws `MigrationError` if tables of one name in one shard do not replicate each other. */
function checkSameTables(nodes: readonly ClusterNode[]): void {
  const first = new Map<string, { node: ClusterNode; path: string }>();
  for (const node of nodes) {
    for (const { name, keeperPath } of node.tables) {
      if (keeperPath === undefined) continue;
      const key = `${node.shard} ${name}`;
      const known = first.get(key);
      if (known === undefined) first.set(key, { node, path: keeperPath });
      else if (known.path !== keeperPath) {
        throw new MigrationError(
          `Replicas ${known.node.name} and ${node.name} have different tables ${name}, which do not replicate each other. ` +
            "Drop the database on the one that is empty (DROP DATABASE … SYNC, then CREATE DATABASE), and start again: it gets the tables of the other.",
        );
      }
    }
  }
}
