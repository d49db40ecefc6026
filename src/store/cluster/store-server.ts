import { param, sql, trusted, type Sql } from "../../query/sql.ts";
import type { Engine, QueryOptions } from "../engine.ts";
import { appliedMigrations, readMigrations } from "../schema/migrations.ts";
import { StorageError, toStorageError } from "../storage-error.ts";
import { createEngine } from "../transport/create-engine.ts";
import type { Insert, SendOptions, StatementResult, Transport } from "../transport/transport.ts";
import { missingReplicas, SKIPPING } from "./missing-replicas.ts";
import {
  distributedSettings,
  DISTRIBUTED_TABLES,
  LOCAL_TABLES,
  matchesShardLayout,
  shardCountOf,
  shardLayout,
} from "./shards/shards.ts";

export interface StoreServerOptions {
  /** `host:port`, for operators. */
  readonly name: string;
  /** For statements on local tables. */
  readonly local: Transport;
  /** For statements on tables distributed over `shards` shards. */
  readonly distributed: (shards: number) => Transport;
  /** For checks, which must not queue behind statements. */
  readonly checks: Transport;
  readonly cluster: string | undefined;
  /** `CLICKHOUSE_INSERT_QUORUM`. */
  readonly insertQuorum: string;
}

const CHECK_MS = 1500;
const CATCH_UP_MS = 5000;
/** Wait for the quorum; afterwards the client may retry. */
const QUORUM_TIMEOUT_MS = 10_000;
/** Exponential backoff from 0.1 s: 3 s in total, in which Keeper can elect a leader. */
const KEEPER_RETRIES = 5;
const ALL_TABLES = [...LOCAL_TABLES, ...DISTRIBUTED_TABLES];
const REPLACING = "see Replacing a replica in docs/cluster.md";

/** One of the servers of CLICKHOUSE_URL. */
export class StoreServer implements Transport {
  readonly name: string;
  readonly #options: StoreServerOptions;
  readonly #engine: Engine;
  #distributed: { readonly shards: number; readonly transport: Transport } | undefined;
  #layout = { shards: 1, replicas: 1 };
  /** Start of the server that caught up, in seconds. */
  #startedAt = 0;

  constructor(options: StoreServerOptions) {
    this.name = options.name;
    this.#options = options;
    this.#engine = createEngine(options.checks);
  }

  /** Shards in the cluster definition, when last checked. */
  get shards(): number {
    return this.#layout.shards;
  }

  async read(query: Sql, options: SendOptions): Promise<StatementResult> {
    const { cluster, insertQuorum } = this.#options;
    const mayLag = cluster !== undefined && neededOf(this.#layout, insertQuorum) < this.#layout.replicas;
    if (options.synced !== undefined && mayLag) await this.#syncAll([options.synced]);
    return this.#transportOf(options).read(query, this.#withSettings("reads", options));
  }

  command(statement: Sql, options: SendOptions): Promise<void> {
    // DDL needs no quorum: it may create the tables that the quorum lacks
    const sent = options.tables === "local" ? options : this.#withSettings("writes", options);
    return this.#options.local.command(statement, sent);
  }

  insert(insert: Insert, options: SendOptions): Promise<void> {
    return this.#transportOf(options).insert(insert, this.#withSettings("writes", options));
  }

  /** Throws `StorageError` if it does not respond or has restarted since it caught up, or "read_only". */
  async check(): Promise<void> {
    const { started_at: startedAt, readonly_tables: readonly } = await this.#look();
    if (Math.abs(startedAt - this.#startedAt) > 1) throw failure(`${this.name} has restarted`);
    this.#requireWritable(readonly);
  }

  /**
   * Resolves once it has everything that was acknowledged at the call. Throws `StorageError` after `CATCH_UP_MS`, if it has
   * lost its tables, or if it is of another shard; `shard` `undefined`: of any.
   */
  async catchUp(shard?: number): Promise<void> {
    const { tables, shard: own, started_at: startedAt, readonly_tables: readonly } = await this.#look();
    this.#requireWritable(readonly);
    if (shard !== undefined && shard !== own)
      throw failure(`CLICKHOUSE_URL names no other server of shard ${shard}`);
    const names = tables.map(([table]) => table);
    if (!names.includes("schema_migrations")) await this.#requireNewStore();
    await this.#syncAll(tables.flatMap(([table, isReplicated]) => (isReplicated === 1 ? [table] : [])));
    if (!ALL_TABLES.every((table) => names.includes(table))) {
      // complete unless a first start is creating it
      const applied = await appliedMigrations(this.#engine, within(CHECK_MS));
      if (readMigrations().every((migration) => applied.has(migration.name)))
        throw failure(`${this.name} has lost tables: ${REPLACING}`);
    }
    this.#startedAt = startedAt;
  }

  /** Tells why writes fail, without host names, because clients see it; `undefined` if they can succeed. */
  async writeProblem(): Promise<string | undefined> {
    const { cluster, insertQuorum } = this.#options;
    const [row] = await this.#engine
      .rows<{ is_readonly: 0 | 1; active: number; total: number }>(
        sql`SELECT is_readonly, active_replicas AS active, total_replicas AS total FROM system.replicas
            WHERE database = currentDatabase() AND table = 'schema_migrations'`,
        within(CHECK_MS),
      )
      .catch(() => [{ is_readonly: 1, active: 0, total: 0 }]);
    if (row === undefined) return undefined;
    if (row.is_readonly === 1) return "ClickHouse Keeper does not respond";
    const needed = neededOf({ shards: this.shards, replicas: row.total }, insertQuorum);
    if (cluster === undefined || row.active >= needed) return undefined;
    return `${row.active} of ${row.total} replicas are available, and a write needs ${needed}`;
  }

  async close(): Promise<void> {
    const { local, checks } = this.#options;
    await Promise.all([local.close(), checks.close(), this.#distributed?.transport.close()]);
  }

  /** Throws `StorageError` also if its tables are arranged for another number of shards. */
  async #look(): Promise<State> {
    const { name } = this;
    const { cluster } = this.#options;
    const state = await this.#state();
    const { shards, replicas, tables, arranged_for: arranged } = state;
    if (cluster !== undefined && replicas === 0)
      throw new StorageError("statement", "server_check", "701", `${name} does not know the cluster`);
    if (cluster !== undefined && tables.length > 0 && !matchesShardLayout(shards, arranged))
      throw failure(
        `the cluster has ${shards} shards, and the data is arranged for ${arranged.join(" and ") || "one"}: ` +
          "restore the cluster's definition, or see Adding a shard in docs/cluster.md",
      );
    this.#layout = { shards, replicas };
    return state;
  }

  #requireWritable(readonlyTables: number): void {
    if (readonlyTables === 0) return;
    throw new StorageError("read_only", "server_check", undefined, `tables of ${this.name} are read-only`);
  }

  async #state(): Promise<State> {
    try {
      const [row] = await this.#engine.rows<State>(stateOf(this.#options.cluster), within(CHECK_MS));
      return row!;
    } catch (error) {
      const { engineCode, detail } = toStorageError(error, "server_check");
      const hasAnswered = /^\d+$/.test(engineCode ?? "");
      const problem = hasAnswered ? detail : `${this.name} does not respond`;
      throw new StorageError("unavailable", "server_check", engineCode, problem);
    }
  }

  /** Throws unless every replica responds and none has tables. */
  async #requireNewStore(): Promise<void> {
    const { cluster } = this.#options;
    if (cluster === undefined) return;
    const [row] = await this.#engine.rows<{ stores: number }>(
      sql`SELECT toUInt32(count()) AS stores FROM ${trusted(`clusterAllReplicas('${cluster}', system.tables)`)}
          WHERE database = (SELECT currentDatabase()) AND name = 'schema_migrations' ${SKIPPING}`,
      within(CATCH_UP_MS),
    );
    if (row!.stores > 0) throw failure(`${this.name} has lost its tables: ${REPLACING}`);
    const missing = await missingReplicas(this.#engine, cluster);
    if (missing.length > 0)
      throw failure(`a first start needs every replica, and ${missing.join(", ")} does not respond`);
  }

  async #syncAll(tables: readonly string[]): Promise<void> {
    const signal = AbortSignal.timeout(CATCH_UP_MS);
    await Promise.all(tables.map((table) => this.#sync(table, signal))).catch(() => {
      throw failure(`${this.name} lacks what others acknowledged, or ClickHouse Keeper does not respond`);
    });
  }

  /** LIGHTWEIGHT: does not wait for merges. */
  #sync(table: string, signal: AbortSignal): Promise<void> {
    const seconds = CATCH_UP_MS / 1000;
    return this.#options.checks.command(trusted(`SYSTEM SYNC REPLICA \`${table}\` LIGHTWEIGHT`), {
      name: "server_catch_up",
      profile: "interactive",
      settings: { max_execution_time: seconds + 1, receive_timeout: seconds },
      signal,
    });
  }

  #transportOf({ tables }: SendOptions): Transport {
    const { shards } = this;
    if (tables !== undefined || shards === 1) return this.#options.local;
    if (this.#distributed?.shards !== shards)
      this.#distributed = { shards, transport: this.#options.distributed(shards) };
    return this.#distributed.transport;
  }

  #withSettings(access: "reads" | "writes", options: SendOptions): SendOptions {
    const { cluster, insertQuorum } = this.#options;
    const { shards, replicas } = this.#layout;
    const isDistributed = options.tables === undefined && shards > 1;
    const settings = {
      ...options.settings,
      ...(isDistributed ? distributedSettings(access, replicas) : {}),
      ...(access === "writes" && cluster !== undefined ? quorumSettings(this.#layout, insertQuorum) : {}),
    };
    return { ...options, settings };
  }
}

interface State {
  /** In seconds; may vary by one. */
  readonly started_at: number;
  readonly shard: number;
  readonly shards: number;
  /** Replicas of its shard in the cluster definition. */
  readonly replicas: number;
  readonly arranged_for: readonly number[];
  readonly tables: readonly (readonly [name: string, isReplicated: 0 | 1])[];
  readonly readonly_tables: number;
}

/** Selects only columns for which the server does not contact ClickHouse Keeper. */
function stateOf(cluster: string | undefined): Sql {
  const servers = sql`system.clusters WHERE cluster = ${param("String", cluster ?? "")}`;
  return sql`
    WITH (SELECT toUInt32(max(shard_num * is_local)) FROM ${servers}) AS own
    SELECT toUnixTimestamp(now()) - uptime() AS started_at, greatest(own, 1) AS shard, ${shardCountOf(cluster)} AS shards,
      (SELECT toUInt32(countIf(shard_num = greatest(own, 1))) FROM ${servers}) AS replicas,
      (${shardLayout}) AS arranged_for,
      (SELECT groupArray((name, startsWith(engine, 'Replicated'))) FROM system.tables
       WHERE database = currentDatabase() AND name IN ${param("Array(String)", ALL_TABLES)}) AS tables,
      (SELECT toUInt32(countIf(is_readonly)) FROM system.replicas WHERE database = currentDatabase()) AS readonly_tables`;
}

interface Layout {
  readonly shards: number;
  readonly replicas: number;
}

/** Replicas that must store a row: with shards all, because a query over shards cannot wait for one that lags. */
function neededOf({ shards, replicas }: Layout, insertQuorum: string): number {
  if (shards > 1) return replicas;
  return insertQuorum === "auto" ? Math.floor(replicas / 2) + 1 : Number(insertQuorum);
}

/** ClickHouse's own `auto` never completes on a table with one replica. */
function quorumSettings(layout: Layout, insertQuorum: string): SendOptions["settings"] {
  const needed = neededOf(layout, insertQuorum);
  return {
    insert_quorum: needed === 1 && layout.replicas === 1 ? 0 : needed,
    insert_quorum_timeout: QUORUM_TIMEOUT_MS,
    insert_keeper_max_retries: KEEPER_RETRIES,
  };
}

function within(ms: number): QueryOptions {
  return { name: "server_check", signal: AbortSignal.timeout(ms) };
}

function failure(problem: string): StorageError {
  return new StorageError("unavailable", "server_check", undefined, problem);
}
