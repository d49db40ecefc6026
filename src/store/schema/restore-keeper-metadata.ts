import { setTimeout as pause } from "node:timers/promises";
import { sql, trusted } from "../../query/sql.ts";
import type { ClusterNode } from "./cluster-survey.ts";
import type { Engine } from "../engine.ts";
import { StorageError } from "../storage-error.ts";

/** BAD_ARGUMENTS: the replica needs no restore. */
const NOT_NEEDED = "36";
/** KEEPER_EXCEPTION: ClickHouse Keeper does not respond, so nothing can be restored, and its replicas are counted as none. */
const KEEPER_AWAY = "999";
const WITHIN_MS = 30_000;
const PAUSE_MS = 1000;

/**
 * Restores the ClickHouse Keeper entries of replicas that have their tables: a delayed `SYSTEM DROP REPLICA` may arrive just
 * after a replica got its tables back. Rows are kept; other replicas are unchanged. Gives up after 30 s, or without Keeper.
 */
export async function restoreKeeperMetadata(
  engine: Engine,
  cluster: string,
  nodes: readonly ClusterNode[],
): Promise<void> {
  // the statement waits for every replica
  if (nodes.some((node) => node.macro === undefined)) return;
  for (const giveUpMs = performance.now() + WITHIN_MS; ; await pause(PAUSE_MS)) {
    const tables = await engine.rows<{ name: string }>(
      sql`SELECT DISTINCT table AS name FROM ${trusted(`clusterAllReplicas('${cluster}', system.replicas)`)}
          WHERE database = (SELECT currentDatabase()) AND is_readonly AND total_replicas = 0 ORDER BY name`,
      { name: "keeper_restore_find", limits: "maintenance", tables: "local" },
    );
    if (tables.length === 0 || performance.now() > giveUpMs) return;
    for (const { name } of tables) if (!(await restoreReplica(engine, cluster, name))) return;
  }
}

/** Returns false if ClickHouse Keeper does not respond. */
async function restoreReplica(engine: Engine, cluster: string, table: string): Promise<boolean> {
  try {
    await engine.command(trusted(`SYSTEM RESTORE REPLICA \`${table}\` ON CLUSTER '${cluster}'`), {
      name: "keeper_restore_replica",
      tables: "local",
    });
    return true;
  } catch (error) {
    const code = error instanceof StorageError ? error.engineCode : undefined;
    if (code !== NOT_NEEDED && code !== KEEPER_AWAY) throw error;
    return code === NOT_NEEDED;
  }
}
