import { param, sql, trusted } from "../../query/sql.ts";
import { distributedDatabase, shardingKey, DISTRIBUTED_TABLES } from "../cluster/shards/shards.ts";
import type { Engine } from "../engine.ts";
import { MigrationError } from "../migration-error.ts";

/** Counts the shards of a cluster. Throws `MigrationError` if replicas or weights differ per shard. */
export async function readShards(engine: Engine, cluster: string): Promise<number> {
  const shards = await engine.rows<{ replicas: number; weight: number }>(
    sql`SELECT toUInt32(count()) AS replicas, toUInt32(max(shard_weight)) AS weight
        FROM system.clusters WHERE cluster = ${param("String", cluster)} GROUP BY shard_num`,
    { name: "migrate_shards", tables: "local" },
  );
  if (shards.length === 1) return 1;
  if (new Set(shards.map(({ replicas }) => replicas)).size > 1)
    throw new MigrationError("The shards of the cluster need the same number of replicas.");
  if (shards.some(({ weight }) => weight !== 1))
    throw new MigrationError("The shards of the cluster need the weight 1.");
  // throws for a shard of which no server serves
  await engine.rows(sql`SELECT 1`, { name: "migrate_shards", tables: "per_shard" });
  return shards.length;
}

/** Creates the database of the distributed tables: before any table, so that it identifies a sharded store. */
export async function createShardsDatabase(engine: Engine, cluster: string, shards: number): Promise<void> {
  const distributed = distributedDatabase(await ownDatabase(engine), shards);
  await engine.command(trusted(`CREATE DATABASE IF NOT EXISTS \`${distributed}\` ON CLUSTER '${cluster}'`), {
    name: "shards_database",
    tables: "local",
  });
}

/** Creates the distributed tables, or gives them the columns of the local ones. */
export async function createDistributedTables(
  engine: Engine,
  cluster: string,
  shards: number,
): Promise<void> {
  const local = await ownDatabase(engine);
  const distributed = distributedDatabase(local, shards);
  for (const table of DISTRIBUTED_TABLES) {
    await engine.command(
      trusted(`CREATE OR REPLACE TABLE \`${distributed}\`.\`${table}\` ON CLUSTER '${cluster}' AS \`${local}\`.\`${table}\`
        ENGINE = Distributed('${cluster}', '${local}', '${table}', ${shardingKey(table)})`),
      { name: "shards_make", tables: "local" },
    );
  }
}

async function ownDatabase(engine: Engine): Promise<string> {
  const [row] = await engine.rows<{ name: string }>(sql`SELECT currentDatabase() AS name`, {
    name: "shards_database",
    tables: "local",
  });
  return row!.name;
}
