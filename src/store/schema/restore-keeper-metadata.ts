import { setTimeout as pause } from "node:timers/promises";
import { sql, trusted } from "../../query/sql.ts";
import type { ClusterNode } from "./cluster-survey.ts";
import type { Engine } from "../engine.ts";
import { StorageError } from "../storage-error.ts";

/** BAD_ARGUMENTS: of every replica that does not need it. */
const NOT_NEEDED = "36";
const WITHIN_MS = 30_000;
const PAUSE_MS = 1000;

/**
 * Has replicas known to the keeper again that it has forgotten although they have their tables: `SYSTEM DROP REPLICA`, sent for one
 * that had lost its disk, came when that one had just been given its tables. They keep their rows. Does nothing to others.
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
    for (const { name } of tables) await mend(engine, cluster, name);
  }
}

async function mend(engine: Engine, cluster: string, table: string): Promise<void> {
  try {
    await engine.command(trusted(`SYSTEM RESTORE REPLICA \`${table}\` ON CLUSTER '${cluster}'`), {
      name: "keeper_restore_replica",
      tables: "local",
    });
  } catch (error) {
    if (!(error instanceof StorageError) || error.engineCode !== NOT_NEEDED) throw error;
  }
}
