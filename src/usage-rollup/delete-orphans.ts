import type { Engine } from "../store/engine.ts";
import { param, sql } from "../query/sql.ts";

/** Hours per mutation: a replicated mutation must fit into one ClickHouse Keeper node. */
const MAX_HOURS = 1000;
const hourKey = sql`concat(toString(hour), ' ', project_id)`;

/**
 * Deletes orphans in the two runs after a mutation of `calls`; only deletions create orphans, and a process may have been
 * materializing during the first run. Cost: O(rows of `calls`).
 */
export function createOrphanCollector(engine: Engine): { run(): Promise<void> } {
  let [earlier, last]: (string | undefined)[] = [];
  return {
    async run() {
      const deletions = await deletionsOf(engine);
      if (deletions === last && last === earlier) return;
      await deleteOrphans(engine);
      [earlier, last] = [last, deletions];
    },
  };
}

/** Reads a version text that changes with every mutation of `calls`. */
async function deletionsOf(engine: Engine): Promise<string> {
  const rows = await engine.rows<{ newest: string }>(
    sql`SELECT max(concat(toString(create_time), ' ', mutation_id)) AS newest FROM system.mutations
        WHERE database = currentDatabase() AND table = 'calls'`,
    { name: "usage_rollup_deletions", limits: "maintenance", tables: "per_shard" },
  );
  return rows.map(({ newest }) => newest).join(", ");
}

/**
 * Deletes rollup rows of hours without calls, left by a process that materialized while another replica deleted the calls.
 * Queries ignore these rows, but they still contain deleted data.
 */
export async function deleteOrphans(engine: Engine): Promise<void> {
  const rows = await engine.rows<{ found: string }>(
    sql`SELECT DISTINCT ${hourKey} AS found FROM usage_rollup
        WHERE (project_id, hour) NOT IN (SELECT DISTINCT project_id, hour FROM calls) LIMIT ${param("UInt32", MAX_HOURS)}`,
    { name: "usage_rollup_orphans", limits: "maintenance" },
  );
  if (rows.length === 0) return;
  const found = rows.map((row) => row.found);
  await engine.command(
    sql`ALTER TABLE usage_rollup DELETE WHERE ${hourKey} IN ${param("Array(String)", found)} SETTINGS mutations_sync = 0`,
    { name: "usage_rollup_delete_orphans", tables: "per_shard" },
  );
}
