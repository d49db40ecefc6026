import { param, sql, type Sql } from "../../../query/sql.ts";

/**
 * Names the database of the `Distributed` tables: with several shards, each server has local tables in the store's database
 * and, in this one, distributed tables of the same names. The name records the number of shards.
 */
export function distributedDatabase(database: string, shards: number): string {
  return `${database}_${shards}_shards`;
}

/** SQL subquery: shards in the cluster definition; 1 without a cluster. */
export function shardCountOf(cluster: string | undefined): Sql {
  return sql`(SELECT toUInt32(greatest(max(shard_num), 1)) FROM system.clusters WHERE cluster = ${param("String", cluster ?? "")})`;
}

/** SQL: shard counts of this server's distributed databases, as an array; empty for one shard. */
export const shardLayout = sql`SELECT groupArray(toUInt32(extract(name, '_([0-9]+)_shards$'))) FROM system.databases
  WHERE startsWith(name, currentDatabase()) AND match(substring(name, length(currentDatabase()) + 1), '^_[0-9]+_shards$')`;

export function matchesShardLayout(shards: number, arranged: readonly number[]): boolean {
  return shards === 1 ? arranged.length === 0 : arranged.length === 1 && arranged[0] === shards;
}

/**
 * Sharding columns of every distributed table. They are part of its key, so that all versions of a row are on one shard,
 * where `FINAL` merges them.
 */
const shardingColumns: Readonly<Record<string, string>> = {
  calls: "project_id, trace_id",
  trace_hours: "project_id, trace_id",
  multi_hour_traces: "project_id, trace_id",
  // looked up by call id before the trace is known
  call_keys: "project_id, id",
  pending_call_events: "project_id, id",
  usage_rollup: "project_id, hour",
  file_chunks: "project_id, digest",
  data_table_rows: "project_id, digest",
  // floating-point sums must not depend on the order of shards
  feedback: "project_id",
  feedback_keys: "project_id",
  agent_points: "project_id",
  dataset_exports: "project_id",
  dataset_export_calls: "project_id",
  objects: "project_id",
  data_tables: "project_id",
  llm_prices: "project_id",
  budgets: "project_id",
  budget_claims: "project_id, budget",
  trace_limits: "project_id, trace_id",
  retention: "project_id",
  budget_alerts: "project_id",
  // the project of a deletion never changes
  deletions: "project_id",
  api_keys: "id",
  audit: "id",
  api_key_last_used: "id",
  training_owners: "id",
  training_jobs: "project_id",
};

/** Tables that are not distributed. */
export const LOCAL_TABLES: readonly string[] = ["schema_migrations"];
export const DISTRIBUTED_TABLES: readonly string[] = Object.keys(shardingColumns);

export function shardingKey(table: string): string {
  return `cityHash64(${shardingColumns[table]!})`;
}

/** Settings to query the first replica of a shard that responds in time and does not lag. */
const failover = {
  load_balancing: "in_order",
  connect_timeout_with_failover_ms: 500,
  handshake_timeout_ms: 1000,
  max_replica_delay_for_distributed_queries: 2,
  fallback_to_stale_replicas_for_distributed_queries: 0,
};
const read = {
  // collects a subquery's rows from all shards and sends them to each
  distributed_product_mode: "global",
  optimize_skip_unused_shards: 1,
  // ORDER BY with LIMIT over FINAL in a distributed subquery fails otherwise: code 10 (26.7)
  query_plan_optimize_lazy_materialization: 0,
};
const write = { distributed_foreground_insert: 1 };

/** Returns the settings of statements on distributed tables, by the number of replicas per shard. */
export function distributedSettings(
  access: "reads" | "writes",
  replicas: number,
): Readonly<Record<string, string | number>> {
  return { ...(access === "reads" ? read : write), ...(replicas > 1 ? failover : {}) };
}
