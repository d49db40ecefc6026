/** Last known state of one server. */
export interface ReplicaState {
  /** `host:port`, for operators. */
  readonly name: string;
  /** `suspect`: below `FAILURE_THRESHOLD` slow probes; used only if no other server responds. */
  readonly answers: "yes" | "suspect" | "no";
  /** True if it has the store's tables. */
  readonly hasStore: boolean;
  /** Shard number; `undefined` before the first probe. */
  readonly shard: number | undefined;
  /** Shards in the cluster definition. */
  readonly shards: number;
  /** True if its tables are distributed over `shards` shards. */
  readonly isArranged: boolean;
  /** Replicas of its shard in the cluster definition. */
  readonly configured: number;
  readonly replicatedTables: readonly string[];
  /** Tables that have been read-only for `STARTING_MS`. */
  readonly readonlyTables: number;
  /** Replicas known to ClickHouse Keeper and active ones; `undefined` if Keeper does not respond. */
  readonly keeper: { readonly total: number; readonly active: number } | undefined;
  /** `performance.now()` of the loss of Keeper; `undefined` while it responds. */
  readonly keeperAwaySinceMs: number | undefined;
}

export interface Quorum {
  /** Replicas that must store a row before it is acknowledged. */
  readonly needed: number;
  readonly total: number;
  /** Replicas available according to both Keeper and the probes. */
  readonly alive: number;
}

export interface ClusterView {
  /** Servers of CLICKHOUSE_URL. */
  readonly all: readonly ReplicaState[];
  /** True once any server has been seen with the store's tables. */
  readonly isStoreKnown: boolean;
  /** `CLICKHOUSE_INSERT_QUORUM`; `undefined` without a cluster. */
  readonly insertQuorum: string | undefined;
}

/** Computes the write quorum; ClickHouse's own `auto` never completes on a table with one replica. */
export function quorumOf(state: ReplicaState, { all, insertQuorum }: ClusterView): Quorum {
  const total = Math.max(state.configured, state.keeper?.total ?? 0, 1);
  const gone = all.filter(
    ({ shard, answers, hasStore }) => shard === state.shard && (answers === "no" || !hasStore),
  ).length;
  const alive = Math.min(state.keeper?.active ?? total, total - gone);
  if (insertQuorum === undefined) return { needed: 1, total, alive };
  // a query over shards cannot wait for a lagging replica, so none may lag
  const most = state.shards > 1 ? total : Math.floor(total / 2) + 1;
  const needed = insertQuorum === "auto" ? most : Number(insertQuorum);
  return { needed, total, alive };
}

/** Explains why a server cannot be read, without host names, because clients see it; `undefined` if it can. */
export function readProblem({ answers, hasStore }: ReplicaState, view: ClusterView): string | undefined {
  if (answers === "no") return "its servers do not answer";
  if (view.isStoreKnown && !hasStore)
    return "a replica has lost its tables, which `npm run migrate` restores";
  return undefined;
}

/** Explains why a server accepts no writes; `undefined` if it does. */
export function writeProblem(state: ReplicaState, view: ClusterView): string | undefined {
  const problem = readProblem(state, view);
  if (problem !== undefined || !state.hasStore) return problem;
  if (state.replicatedTables.length === 0) return undefined;
  if (state.keeper === undefined) return "ClickHouse Keeper does not respond";
  if (state.readonlyTables > 0) return `${state.readonlyTables} of its tables are read-only`;
  const { needed, alive, total } = quorumOf(state, view);
  if (state.shards > 1 && needed !== total)
    return `with several shards every replica must have a row: CLICKHOUSE_INSERT_QUORUM has to be auto or ${total}`;
  return alive < needed
    ? `${alive} of ${total} replicas are available, and a write needs ${needed}`
    : undefined;
}

/** True if the quorum guarantees that this server stores every acknowledged row. */
export function hasAllAcknowledged(state: ReplicaState, view: ClusterView): boolean {
  if (view.all.every(({ replicatedTables }) => replicatedTables.length === 0)) return true;
  const { needed, total } = quorumOf(state, view);
  return needed >= total;
}
