import { setTimeout as delay } from "node:timers/promises";
import { sql, trusted } from "../../query/sql.ts";
import type { ClusterNode, NodeTable } from "./cluster-survey.ts";
import type { Engine } from "../engine.ts";
import { MigrationError } from "../migration-error.ts";
import type { Progress } from "./progress.ts";
import { StorageError } from "../storage-error.ts";

/** REPLICA_ALREADY_EXISTS: the keeper knows a replica of this name, which had a disk once. */
const KNOWN_TO_THE_KEEPER = "253";
/** TABLE_WAS_NOT_DROPPED: its last session has not ended yet. */
const STILL_ACTIVE = "305";
const SESSION_ENDS_WITHIN_MS = 60_000;

/**
 * Gives replicas that answer and lack tables, because they are new or have lost their disk, the tables of the others,
 * under the same identity, so that they fetch what is in them. Returns their names. Errors: `MigrationError` when
 * replicas of one shard hold different stores, or nobody who answers has what is to be restored.
 */
export async function recreateReplicaTables(
  engine: Engine,
  { cluster, nodes, progress }: Restoring,
): Promise<readonly string[]> {
  refuseSeparateTables(nodes);
  const model = nodes.toSorted((a, b) => b.tables.length - a.tables.length)[0]!;
  const restored: string[] = [];
  for (const node of nodes) {
    const missing = model.tables.filter((table) => !node.tables.some(({ name }) => name === table.name));
    if (node.macro === undefined || missing.length === 0) continue;
    progress.waits(`replica ${node.name} lacks tables, and gets those of the others`);
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
  /** Its path in the keeper, as reported by a replica of the same shard. */
  readonly keeperPath: string | undefined;
}

/**
 * Replicas that already have the table get the statement too, and do nothing; so does one that another start restores meanwhile.
 */
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
      if (!isCode(error, KNOWN_TO_THE_KEEPER)) throw error;
      if (keeperPath === undefined) {
        throw new MigrationError(
          `Replica ${node.name} has lost its tables, and no other replica of shard ${node.shard} that has them answers: start one.`,
        );
      }
      await forget(engine, node.macro!, keeperPath).catch((failure: unknown) => {
        if (!isCode(failure, STILL_ACTIVE) || performance.now() > until) throw failure;
        progress.waits(`the keeper has not yet noticed that replica ${node.name} has lost its tables`);
      });
    }
  }
}

/** The replica reported that it has no such table, so its entry in the keeper can go without loss, unless it is active. */
function forget(engine: Engine, replica: string, keeperPath: string): Promise<void> {
  return engine.command(sql`SYSTEM DROP REPLICA ${literal(replica)} FROM ZKPATH ${literal(keeperPath)}`, {
    name: "restore_forget",
    tables: "local",
  });
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof StorageError && error.engineCode === code;
}

/** `SYSTEM` takes no parameters. Both texts are the store's own. */
function literal(text: string) {
  return trusted(`'${text.replaceAll(/[\\']/g, "\\$&")}'`);
}

/** `CREATE TABLE a.b UUID '…' (` → `CREATE TABLE IF NOT EXISTS a.b UUID '…' ON CLUSTER 'c' (` */
export function onCluster(statement: string, cluster: string): string {
  return statement.replace(
    /^CREATE TABLE (\S+(?: UUID '[\da-f-]+')?)/,
    `CREATE TABLE IF NOT EXISTS $1 ON CLUSTER '${cluster}'`,
  );
}

/** Tables of one name in one shard that do not replicate each other: one of them is empty. */
function refuseSeparateTables(nodes: readonly ClusterNode[]): void {
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
