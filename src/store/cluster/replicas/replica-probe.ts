import { param, sql, type Sql } from "../../../query/sql.ts";
import type { Engine } from "../../engine.ts";
import type { ReplicaState } from "./replica-health.ts";
import { shardLayout, matchesShardLayout, shardCountOf } from "../shards/shards.ts";
import { toStorageError } from "../../storage-error.ts";

export interface ReplicaProbe {
  state(): ReplicaState;
  poll(): Promise<void>;
}

interface Watched {
  readonly name: string;
  readonly cluster: string | undefined;
}

const PROBE_TIMEOUT_MS = 700;
/** Consecutive slow probes after which a server counts as down. */
const FAILURE_THRESHOLD = 4;
const KEEPER_FAILURE_THRESHOLD = 2;
/** Time that a table may be read-only after its creation or the server's start. */
const STARTING_MS = 3000;
/** UNKNOWN_TABLE, UNKNOWN_DATABASE */
const NO_STORE = new Set(["60", "81"]);

/** Creates a probe of one server and of its Keeper connection, each with its own timeout. */
export function createReplicaProbe(watcher: Engine, { name, cluster }: Watched): ReplicaProbe {
  const local = ownQuery(cluster);
  const readonlySinceMs = new Map<string, number>();
  let slow = 0;
  let slowKeeper = 0;
  let state: ReplicaState = {
    name,
    answers: "no",
    hasStore: false,
    shard: undefined,
    shards: 1,
    isArranged: true,
    configured: 1,
    replicatedTables: [],
    readonlyTables: 0,
    keeper: undefined,
    keeperAwaySinceMs: performance.now(),
  };

  const without = (): Pick<ReplicaState, "keeper" | "keeperAwaySinceMs"> => ({
    keeper: undefined,
    keeperAwaySinceMs: state.keeperAwaySinceMs ?? performance.now(),
  });
  const afterFailure = (reason: unknown, tookMs: number): ReplicaState => {
    const { kind, engineCode = "" } = toStorageError(reason, "replica_probe");
    if (NO_STORE.has(engineCode)) {
      return { ...state, answers: "yes", hasStore: false, replicatedTables: [], ...without() };
    }
    if (kind !== "aborted") return { ...state, answers: "no", ...without() };
    // the event loop was blocked, so the timeout says nothing about the server
    if (tookMs > PROBE_TIMEOUT_MS * 1.5) return state;
    return { ...state, answers: ++slow < FAILURE_THRESHOLD ? "suspect" : "no" };
  };
  const stuck = (tables: readonly string[]): number => {
    const nowMs = performance.now();
    for (const table of readonlySinceMs.keys()) if (!tables.includes(table)) readonlySinceMs.delete(table);
    for (const table of tables) if (!readonlySinceMs.has(table)) readonlySinceMs.set(table, nowMs);
    return [...readonlySinceMs.values()].filter((sinceMs) => nowMs - sinceMs > STARTING_MS).length;
  };
  const keeperOf = (
    answer: PromiseSettledResult<KeeperRow | undefined>,
  ): Pick<ReplicaState, "keeper" | "keeperAwaySinceMs"> => {
    if (answer.status === "rejected" && ++slowKeeper < KEEPER_FAILURE_THRESHOLD) {
      return { keeper: state.keeper, keeperAwaySinceMs: state.keeperAwaySinceMs };
    }
    if (answer.status === "rejected" || answer.value?.is_readonly === 1) return without();
    slowKeeper = 0;
    const [total, active] = [answer.value?.total_replicas ?? 0, answer.value?.active_replicas ?? 0];
    return { keeper: { total, active }, keeperAwaySinceMs: undefined };
  };

  return {
    state: () => state,
    async poll() {
      const beganMs = performance.now();
      const [seen, keeper] = await Promise.allSettled([
        firstRow<OwnRow>(watcher, local, "replica_probe"),
        firstRow<KeeperRow>(watcher, keeperQuery, "replica_keeper"),
      ]);
      if (seen.status === "rejected") {
        state = afterFailure(seen.reason, performance.now() - beganMs);
        return;
      }
      slow = 0;
      const row = seen.value!;
      state = {
        name,
        answers: "yes",
        hasStore: row.has_store > 0,
        shard: row.shard,
        shards: row.shards,
        isArranged: matchesShardLayout(row.shards, row.arranged_for),
        configured: row.configured,
        replicatedTables: row.tables,
        readonlyTables: stuck(row.readonly_tables),
        ...keeperOf(keeper),
      };
    },
  };
}

interface OwnRow {
  readonly has_store: number;
  readonly shard: number;
  readonly shards: number;
  readonly arranged_for: readonly number[];
  readonly configured: number;
  readonly tables: readonly string[];
  readonly readonly_tables: readonly string[];
}
interface KeeperRow {
  readonly total_replicas: number;
  readonly active_replicas: number;
  readonly is_readonly: number;
}

/** Selects only columns for which the server does not contact ClickHouse Keeper. */
function ownQuery(cluster: string | undefined): Sql {
  const servers = sql`system.clusters WHERE cluster = ${param("String", cluster ?? "")}`;
  return sql`
    WITH (SELECT max(shard_num * is_local) FROM ${servers}) AS own_shard
    SELECT
      (SELECT count() FROM system.tables
       WHERE database = currentDatabase() AND name = 'schema_migrations') AS has_store,
      greatest(own_shard, 1) AS shard,
      ${shardCountOf(cluster)} AS shards,
      (${shardLayout}) AS arranged_for,
      (SELECT countIf(shard_num = greatest(own_shard, 1)) FROM ${servers}) AS configured,
      groupArray(table) AS tables,
      groupArrayIf(table, is_readonly) AS readonly_tables
    FROM system.replicas WHERE database = currentDatabase()`;
}

const keeperQuery = sql`SELECT total_replicas, active_replicas, is_readonly FROM system.replicas
  WHERE database = currentDatabase() AND table = 'schema_migrations'`;

async function firstRow<Row>(watcher: Engine, query: Sql, name: string): Promise<Row | undefined> {
  const [row] = await watcher.rows<Row>(query, { name, signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
  return row;
}
