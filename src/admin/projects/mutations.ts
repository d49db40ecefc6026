import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Engine } from "../../store/engine.ts";
import { shardCountOf } from "../../store/cluster/shards/shards.ts";
import { StorageError } from "../../store/storage-error.ts";
import { param, sql, trusted, type Sql } from "../../query/sql.ts";

/**
 * Numbers of a mutation by table; with several shards by shard and table (`2/calls`), on replicated tables by partition too
 * (`calls@202601`), which numbers them separately. A data part with a `data_version` of at least this number has been changed
 * by the mutation, or was written after it.
 */
export type MutationNumbers = Readonly<Record<string, number>>;

/** Rows of a table to delete or update. */
export interface Change {
  readonly table: string;
  /** Default: `DELETE`. */
  readonly action?: Sql;
  /** Condition for rows of the projects. Default: all. */
  readonly rows?: Sql;
}

export interface Mutations {
  /**
   * Starts the mutations of rows of some projects, and does not wait for them. Only rows stored now change, even if a
   * statement is late or repeated. Returns a function that reads their numbers once all of them show up.
   */
  start(
    kind: string,
    projects: readonly string[],
    changes: readonly Change[],
  ): Promise<() => Promise<MutationNumbers>>;
  /** Reads the numbers of the newest mutations of this kind. */
  newest(kind: string): Promise<MutationNumbers>;
  /** True while a mutation of this kind runs on any replica. */
  areRunning(kind: string): Promise<boolean>;
  /** True if the mutations are done on all replicas and no replaced data part is on a disk. False while a replica is down. */
  areComplete(numbers: MutationNumbers): Promise<boolean>;
}

const SHOW_WITHIN_MS = 10_000;
const ASK_EVERY_MS = 50;

/** Timeout per replica, so that a hanging one does not block a query to all. */
const patience = trusted(
  "SETTINGS connect_timeout_with_failover_ms = 1000, handshake_timeout_ms = 2000, receive_timeout = 5",
);
/** ALL_CONNECTION_TRIES_FAILED, SOCKET_TIMEOUT, NETWORK_ERROR: a replica is down. */
const AWAY = new Set(["279", "209", "210"]);

function unlessAway(error: unknown): undefined {
  if (!(error instanceof StorageError) || !AWAY.has(error.engineCode ?? "")) throw error;
}

/** Creates the mutations of a store. `cluster`: name of the cluster with replicated tables. */
export function createMutations(engine: Engine, cluster: string | undefined): Mutations {
  const everywhere = (table: string): Sql =>
    trusted(cluster === undefined ? table : `clusterAllReplicas('${cluster}', ${table})`);
  // a subquery, so that it is evaluated on one replica
  const here = sql`database = (SELECT currentDatabase())`;
  const tagged = (tag: string): Sql => sql`${here} AND position(command, ${param("String", `'${tag}`)}) > 0`;
  // a mutation without rows to change has no number
  const inPartitions = sql`LEFT ARRAY JOIN block_numbers.number AS number, block_numbers.partition_id AS partition_id`;

  // in `clusterAllReplicas`, `_shard_num` counts replicas
  const shardTables = sql`concat(toString((SELECT groupArray(shard_num) FROM (SELECT shard_num FROM system.clusters
    WHERE cluster = ${param("String", cluster ?? "")} ORDER BY shard_num, replica_num))[_shard_num]), '/', table)`;

  const newest = async (tag: string): Promise<MutationNumbers> => {
    const isOne = (await countShards(engine, cluster)) === 1;
    const of = isOne ? sql`table` : sql`concat(toString(_shard_num), '/', table)`;
    const from = isOne ? sql`system.mutations` : trusted(`cluster('${cluster}', system.mutations)`);
    const rows = await engine.rows<{ key: string; newest: number }>(
      sql`SELECT concat(${of}, if(partition_id = '', '', concat('@', partition_id))) AS key, max(number) AS newest
          FROM ${from} ${inPartitions} WHERE ${tagged(tag)} GROUP BY key ${patience}`,
      { name: "mutations_numbers", limits: "maintenance", tables: "local" },
    );
    return Object.fromEntries(rows.map((row) => [row.key, row.newest]));
  };

  return {
    async start(kind, projects, changes) {
      const tag = `${kind} ${randomUUID()}`;
      const shards = await countShards(engine, cluster);
      const places: string[] = [];
      for (const change of changes) {
        for (let shard = 1; shard <= shards; shard++) {
          const isStarted = await startMutation(engine, change, { projects, tag, shard });
          if (isStarted) places.push(shards === 1 ? change.table : `${shard}/${change.table}`);
        }
      }
      return async () => {
        for (let waitedMs = 0; waitedMs < SHOW_WITHIN_MS; waitedMs += ASK_EVERY_MS) {
          const numbers = await newest(tag);
          const shown = new Set(Object.keys(numbers).map((key) => key.split("@")[0]));
          if (places.every((place) => shown.has(place))) return numbers;
          await delay(ASK_EVERY_MS);
        }
        throw new StorageError("unavailable", "mutations_numbers", undefined, "a mutation does not show up");
      };
    },
    newest,
    async areRunning(kind) {
      const [row] = await engine.rows<{ n: number }>(
        sql`SELECT count() AS n FROM ${everywhere("system.mutations")}
            WHERE NOT is_done AND ${tagged(kind)} ${patience}`,
        { name: "mutations_running", limits: "maintenance", tables: "local" },
      );
      return row!.n > 0;
    },
    async areComplete(numbers) {
      const isByShard = Object.keys(numbers).some((key) => key.includes("/"));
      const of = isByShard ? shardTables : sql`table`;
      const known = sql`${param("Array(String)", Object.keys(numbers))}, ${param("Array(UInt64)", Object.values(numbers))}`;
      const ours = sql`transform(concat(${of}, '@', partition_id), ${known}, transform(${of}, ${known}, toUInt64(0)))`;
      // tables with an unfinished mutation, or with replaced parts on the disk
      const read = () =>
        engine.rows<{ table: string; isRunning: 0 | 1 }>(
          sql`SELECT DISTINCT table, isRunning FROM
              (SELECT table, toUInt8(1) AS isRunning FROM ${everywhere("system.mutations")} ${inPartitions}
               WHERE ${here} AND NOT is_done AND number > 0 AND number = ${ours}
               UNION ALL
               SELECT table, active FROM ${everywhere("system.parts")}
               WHERE ${here} AND data_version < ${ours}) ${patience}`,
          { name: "mutations_left", limits: "maintenance", tables: "local" },
        );
      const left = await read().catch(unlessAway);
      if (left === undefined || left.length === 0) return left !== undefined;
      if (cluster !== undefined || left.some(({ isRunning }) => isRunning === 1)) return false;
      for (const { table } of left) await removeReplaced(engine, table);
      return (await read()).length === 0;
    },
  };
}

interface Target {
  readonly projects: readonly string[];
  readonly tag: string;
  readonly shard: number;
}

/**
 * Starts a mutation of the rows that are stored now, and of no later row; returns false if there are none. It uses the number
 * of the insert that ClickHouse keeps with each row (`_block_number`), so a late or repeated statement changes nothing that was
 * stored after it was built.
 */
async function startMutation(
  engine: Engine,
  { table, action = sql`DELETE`, rows = sql`1` }: Change,
  { projects, tag, shard }: Target,
): Promise<boolean> {
  const ofProjects = sql`project_id IN ${param("Array(String)", projects)}`;
  const newest = await engine.rows<{ partition: string; block: number }>(
    sql`SELECT _partition_id AS partition, max(_block_number) AS block FROM ${identifier(table)}
        WHERE ${ofProjects} GROUP BY partition ORDER BY partition`,
    { name: "mutation_bounds", limits: "maintenance", requireCurrent: true, tables: shard },
  );
  if (newest.length === 0) return false;
  const partitions = newest.map(({ partition }) => partition);
  const ends = newest.map(({ block }) => block + 1);
  await engine.command(
    sql`ALTER TABLE ${identifier(table)} ${action} WHERE ${ofProjects} AND (${rows}) AND ${param("String", tag)} != '' AND
          _block_number < transform(_partition_id, ${param("Array(String)", partitions)}, ${param("Array(UInt64)", ends)}, toUInt64(0))
        SETTINGS mutations_sync = 0`,
    { name: "mutation_start", tables: shard },
  );
  return true;
}

/** Makes the engine remove replaced data parts: it checks idle tables ever less often, but always when a partition is dropped. */
async function removeReplaced(engine: Engine, table: string): Promise<void> {
  await engine.command(sql`ALTER TABLE ${identifier(table)} DROP PARTITION ID 'none'`, {
    name: "replaced_parts_remove",
    limits: "maintenance",
  });
}

async function countShards(engine: Engine, cluster: string | undefined): Promise<number> {
  const [row] = await engine.rows<{ shards: number }>(sql`SELECT ${shardCountOf(cluster)} AS shards`, {
    name: "mutations_shards",
    tables: "local",
  });
  return row!.shards;
}

/** A table name that the store itself returned. */
function identifier(table: string): Sql {
  return trusted(`\`${table.replaceAll(/[\\`]/g, "\\$&")}\``);
}
