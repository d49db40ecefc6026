import { setTimeout as pause } from "node:timers/promises";
import { sql, trusted } from "../../query/sql.ts";
import type { ClusterNode } from "./cluster-survey.ts";
import type { Engine } from "../engine.ts";
import { StorageError } from "../storage-error.ts";

const WITHIN_MS = 30_000;
const PAUSE_MS = 1000;

/**
 * Restores the ClickHouse Keeper entries of replicas that have their tables: a delayed `SYSTEM DROP REPLICA` may arrive just
 * after a replica got its tables back. Rows are kept; other replicas are unchanged. Gives up after 30 s.
 */
export async function restoreKeeperMetadata(
  engine: Engine,
  cluster: string,
  nodes: readonly ClusterNode[],
): Promise<void> {
  // the statement waits for every replica
  if (nodes.some((node) => node.macro === undefined)) return;
  const giveUpMs = performance.now() + WITHIN_MS;
  for (let attempt = 0; performance.now() < giveUpMs; attempt++) {
    const tables = await engine.rows<{ database: string; name: string }>(
      sql`SELECT DISTINCT database, table AS name FROM ${trusted(`clusterAllReplicas('${cluster}', system.replicas)`)}
          WHERE database = (SELECT currentDatabase()) AND position(zookeeper_exception, 'No node') > 0 ORDER BY name`,
      { name: "keeper_restore_find", limits: "maintenance", tables: "local" },
    );
    if (tables.length === 0) return;
    for (const { database, name } of tables) {
      // `SYSTEM … ON CLUSTER` does not add the current database
      const table = `\`${database}\`.\`${name}\` ON CLUSTER '${cluster}'`;
      // a table that lost its entry after its creation can be restored only after a restart
      if (attempt > 0) await tryCommand(engine, `SYSTEM RESTART REPLICA ${table}`);
      await tryCommand(engine, `SYSTEM RESTORE REPLICA ${table}`);
    }
    await pause(PAUSE_MS);
  }
}

/** Runs a statement that replicas without a need for it reject. */
async function tryCommand(engine: Engine, statement: string): Promise<void> {
  try {
    await engine.command(trusted(statement), { name: "keeper_restore_replica", tables: "local" });
  } catch (error) {
    if (!(error instanceof StorageError) || error.engineCode === undefined) throw error;
  }
}
