import { param, sql, type Sql } from "../../../query/sql.ts";

/**
 * With several shards, each server has its own tables in the store's database, and in a second one tables of the same names
 * that stand for those of all shards (`Distributed`). The second one's name says for how many shards rows are arranged.
 */
export function distributedDatabase(database: string, shards: number): string {
  return `${database}_${shards}_shards`;
}

/** What `databaseOfShards` has appended, read back; undefined: something else. */
export function shardsInEnding(ending: string): number | undefined {
  const digits = /^_([0-9]+)_shards$/.exec(ending)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** How many shards a cluster's definition has, as a subquery; 1 without a cluster. */
export function shardCountOf(cluster: string | undefined): Sql {
  return sql`(SELECT toUInt32(greatest(max(shard_num), 1)) FROM system.clusters WHERE cluster = ${param("String", cluster ?? "")})`;
}

/** For how many shards this server's rows are arranged: an array, empty for one shard. */
export const shardLayout = sql`SELECT groupArray(toUInt32(extract(name, '_([0-9]+)_shards$'))) FROM system.databases
  WHERE startsWith(name, currentDatabase()) AND match(substring(name, length(currentDatabase()) + 1), '^_[0-9]+_shards$')`;

export function matchesShardLayout(shards: number, arranged: readonly number[]): boolean {
  return shards === 1 ? arranged.length === 0 : arranged.length === 1 && arranged[0] === shards;
}

/**
 * What decides the shard of a row, for every table that the shards share. These are columns of its key, so that all versions
 * of a row lie together, and `FINAL` folds on each shard what it folds on one.
 */
const placedBy: Readonly<Record<string, string>> = {
  calls: "project_id, trace_id",
  trace_hours: "project_id, trace_id",
  multi_hour_traces: "project_id, trace_id",
  // found by the id of a call, before its trace is known
  call_keys: "project_id, id",
  pending_call_events: "project_id, id",
  usage_rollup: "project_id, hour",
  file_chunks: "project_id, digest",
  data_table_rows: "project_id, digest",
  // added up in floating point, where another order gives other digits
  feedback: "project_id",
  feedback_keys: "project_id",
  objects: "project_id",
  data_tables: "project_id",
  llm_prices: "project_id",
  cost_factors: "project_id",
  retention: "project_id",
  project_generations: "project_id",
  // the project of a deletion never changes
  deletions: "project_id",
  api_keys: "id",
  audit: "id",
  api_key_last_used: "id",
};

/** Tables that every shard has whole. */
export const LOCAL_TABLES: readonly string[] = ["schema_migrations"];
export const DISTRIBUTED_TABLES: readonly string[] = Object.keys(placedBy);

export function shardingKey(table: string): string {
  return `cityHash64(${placedBy[table]!})`;
}

/** Of a replica that does not answer within these times, or lacks rows because it still fetches them, another is asked. */
const askOthers = {
  connect_timeout_with_failover_ms: 500,
  handshake_timeout_ms: 1000,
  max_replica_delay_for_distributed_queries: 2,
  fallback_to_stale_replicas_for_distributed_queries: 0,
};
const read = {
  // the rows of a subquery are gathered from all shards, and then sent to them
  distributed_product_mode: "global",
  optimize_skip_unused_shards: 1,
  // ORDER BY with LIMIT over FINAL in a subquery of several shards fails otherwise: code 10 (26.7)
  query_plan_optimize_lazy_materialization: 0,
};
const write = { distributed_foreground_insert: 1 };

/** What a statement about the tables of all shards needs, where each has so many replicas. */
export function distributedSettings(
  access: "reads" | "writes",
  replicas: number,
): Readonly<Record<string, string | number>> {
  return { ...(access === "reads" ? read : write), ...(replicas > 1 ? askOthers : {}) };
}
