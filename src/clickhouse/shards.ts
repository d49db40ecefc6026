import { sql } from "../query/sql.ts";

/**
 * With several shards, each server has its own tables in the store's database, and in a second one tables of the same names
 * that stand for those of all shards (`Distributed`). The second one's name says for how many shards rows are arranged.
 */
export function databaseOfShards(database: string, shards: number): string {
  return `${database}_${shards}_shards`;
}

/** What `databaseOfShards` has appended, read back; undefined: something else. */
export function shardsInEnding(ending: string): number | undefined {
  const digits = /^_([0-9]+)_shards$/.exec(ending)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** For how many shards this server's rows are arranged: an array, empty for one shard. */
export const arrangedFor = sql`SELECT groupArray(toUInt32(extract(name, '_([0-9]+)_shards$'))) FROM system.databases
  WHERE startsWith(name, currentDatabase()) AND match(substring(name, length(currentDatabase()) + 1), '^_[0-9]+_shards$')`;

export function isArrangedFor(shards: number, arranged: readonly number[]): boolean {
  return shards === 1 ? arranged.length === 0 : arranged.length === 1 && arranged[0] === shards;
}

/** What belongs to a trace lies with it, and what finds a call by its id lies by that. */
const keys: Readonly<Record<string, string>> = {
  calls: "project_id, trace_id",
  trace_hours: "project_id, trace_id",
  spanning_traces: "project_id, trace_id",
  call_traces: "project_id, id",
  parked_parts: "project_id, id",
};

/** What decides the shard of a row. Everything else lies by project, or by the first column of its key. */
export function shardingKey(table: string, columns: readonly string[]): string {
  const key = keys[table] ?? (columns.includes("project_id") ? "project_id" : columns[0]!);
  return `cityHash64(${key})`;
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
};
const write = { distributed_foreground_insert: 1 };

/** What a statement about the tables of all shards needs, where each has so many replicas. */
export function settingsOfShards(
  access: "reads" | "writes",
  replicas: number,
): Readonly<Record<string, string | number>> {
  return { ...(access === "reads" ? read : write), ...(replicas > 1 ? askOthers : {}) };
}
