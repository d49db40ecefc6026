import { param, sql, trusted } from "../../query/sql.ts";
import type { ClusterNode } from "./cluster-survey.ts";
import type { Engine } from "../engine.ts";
import { MigrationError } from "../migration-error.ts";
import {
  distributedDatabase,
  matchesShardLayout,
  shardingKey,
  DISTRIBUTED_TABLES,
} from "../cluster/shards/shards.ts";

export function shardsOf(nodes: readonly ClusterNode[]): number {
  return new Set(nodes.map((node) => node.shard)).size;
}

/** Throws `MigrationError` if rows are distributed over another number of shards, or replicas or weights differ per shard. */
export function checkShardLayout(nodes: readonly ClusterNode[]): void {
  const shards = shardsOf(nodes);
  const withStore = nodes.filter((node) => node.tables.length > 0);
  const arranged = [...new Set(nodes.flatMap((node) => node.shardCounts))];
  const isNew = withStore.length === 0 && arranged.length === 0;
  if (!isNew && !matchesShardLayout(shards, arranged)) {
    throw new MigrationError(
      `The cluster has ${shards} shards, and the data is arranged for ${arranged.join(" and ") || "one"}. ` +
        "Restore the cluster's definition, or move the data: see Adding a shard in docs/cluster.md.",
    );
  }
  if (shards === 1) return;
  const sizes = new Set(
    [...Map.groupBy(nodes, (node) => node.shard).values()].map((replicas) => replicas.length),
  );
  if (sizes.size > 1) throw new MigrationError("The shards of the cluster need the same number of replicas.");
  if (nodes.some((node) => node.weight !== 1)) {
    throw new MigrationError("The shards of the cluster need the weight 1.");
  }
}

interface ShardedCluster {
  readonly cluster: string;
  readonly nodes: readonly ClusterNode[];
}

/**
 * Creates the distributed tables of a store with several shards, if they are missing or outdated on a replica. Throws
 * `MigrationError` if that is necessary and a replica does not respond.
 */
export async function createDistributedTables(
  engine: Engine,
  { cluster, nodes }: ShardedCluster,
): Promise<void> {
  const shards = shardsOf(nodes);
  if (shards === 1) return;
  const local = await ownDatabase(engine);
  const distributed = distributedDatabase(local, shards);
  if (await areUpToDate(engine, cluster, distributed)) return;
  requireAllReplicas(nodes);
  for (const table of DISTRIBUTED_TABLES) {
    await engine.command(
      trusted(`CREATE OR REPLACE TABLE \`${distributed}\`.\`${table}\` ON CLUSTER '${cluster}' AS \`${local}\`.\`${table}\`
        ENGINE = Distributed('${cluster}', '${local}', '${table}', ${shardingKey(table)})`),
      { name: "shards_make", tables: "local" },
    );
  }
}

/** Creates the distributed database before any table, so that it identifies a sharded store. */
export async function createShardsDatabase(
  engine: Engine,
  { cluster, nodes }: ShardedCluster,
): Promise<void> {
  const shards = shardsOf(nodes);
  const lacking = nodes.filter((node) => node.macro !== undefined && !node.shardCounts.includes(shards));
  if (shards === 1 || lacking.length === 0) return;
  const distributed = distributedDatabase(await ownDatabase(engine), shards);
  await engine.command(trusted(`CREATE DATABASE IF NOT EXISTS \`${distributed}\` ON CLUSTER '${cluster}'`), {
    name: "shards_database",
    tables: "local",
  });
}

/** True if every responding replica has all distributed tables, with the columns of the local tables. */
async function areUpToDate(engine: Engine, cluster: string, distributed: string): Promise<boolean> {
  const shared = sql`table IN ${param("Array(String)", DISTRIBUTED_TABLES)}`;
  const columns = sql`cityHash64(table, name, type, default_kind, default_expression)`;
  const [row] = await engine.rows<{ same: 0 | 1 }>(
    sql`SELECT count() > 0 AND min(found = (SELECT sum(${columns}) FROM system.columns WHERE database = currentDatabase() AND ${shared})) AS same
        FROM (SELECT _shard_num, sumIf(${columns}, database = ${param("String", distributed)} AND ${shared}) AS found
          FROM ${trusted(`clusterAllReplicas('${cluster}', system.columns)`)} GROUP BY _shard_num)
        SETTINGS skip_unavailable_shards = 1, connect_timeout_with_failover_ms = 1000, handshake_timeout_ms = 2000`,
    { name: "shards_arranged", limits: "maintenance", tables: "local" },
  );
  return row!.same === 1;
}

function requireAllReplicas(nodes: readonly ClusterNode[]): void {
  const away = nodes.filter((node) => node.macro === undefined).map((node) => node.name);
  if (away.length === 0) return;
  throw new MigrationError(
    `Distributed tables are missing, and ${away.join(", ")} does not respond. Start it.`,
  );
}

async function ownDatabase(engine: Engine): Promise<string> {
  const [row] = await engine.rows<{ name: string }>(sql`SELECT currentDatabase() AS name`, {
    name: "shards_database",
    tables: "local",
  });
  return row!.name;
}
