/** The last known state of one server of the store. */
export interface ReplicaState {
  /** `host:port`, for operators. */
  readonly name: string;
  /** `suspect`: it was too slow once or twice. Nothing is sent to a suspect while another answers. */
  readonly answers: "yes" | "suspect" | "no";
  /** Whether it has the tables of the store. */
  readonly hasStore: boolean;
  /** Its shard of the cluster; undefined: not known yet. */
  readonly shard: number | undefined;
  /** How many shards the cluster's definition has. */
  readonly shards: number;
  /** Whether its tables are arranged for so many shards. */
  readonly isArranged: boolean;
  /** How many replicas the cluster's definition gives its shard. */
  readonly configured: number;
  readonly replicatedTables: readonly string[];
  /** How many tables have taken no writes for a while. */
  readonly readonlyTables: number;
  /** How many replicas its keeper knows, and how many of them are there; undefined: no keeper answers. */
  readonly keeper: { readonly total: number; readonly active: number } | undefined;
  /** Of `performance.now()`; undefined: a keeper answers. */
  readonly keeperAwaySinceMs: number | undefined;
}

export interface Quorum {
  /** Replicas that must have a row before it is acknowledged. */
  readonly needed: number;
  readonly total: number;
  /** How many are there, as far as the keeper and the service itself see. */
  readonly alive: number;
}

export interface ClusterView {
  /** All servers that the settings name. */
  readonly all: readonly ReplicaState[];
  /** Whether any of them has ever been seen with the store. */
  readonly isStoreKnown: boolean;
  /** `CLICKHOUSE_INSERT_QUORUM`; undefined without a cluster. */
  readonly insertQuorum: string | undefined;
}

/** The engine's own `auto` never ends on a table with one replica, so that the number is made here. */
export function quorumOf(state: ReplicaState, { all, insertQuorum }: ClusterView): Quorum {
  const total = Math.max(state.configured, state.keeper?.total ?? 0, 1);
  const gone = all.filter(
    ({ shard, answers, hasStore }) => shard === state.shard && (answers === "no" || !hasStore),
  ).length;
  const alive = Math.min(state.keeper?.active ?? total, total - gone);
  if (insertQuorum === undefined) return { needed: 1, total, alive };
  // a server that reads another shard cannot wait for a lagging replica, so none may lag
  const most = state.shards > 1 ? total : Math.floor(total / 2) + 1;
  const needed = insertQuorum === "auto" ? most : Number(insertQuorum);
  return { needed, total, alive };
}

/** Why a server cannot be read now, without the name of a machine, because callers see it; undefined: it can. */
export function readProblem({ answers, hasStore }: ReplicaState, view: ClusterView): string | undefined {
  if (answers === "no") return "its servers do not answer";
  if (view.isStoreKnown && !hasStore)
    return "a replica has lost its tables, which `npm run migrate` restores";
  return undefined;
}

/** Why a server takes no writes now; undefined: it does. */
export function writeProblem(state: ReplicaState, view: ClusterView): string | undefined {
  const problem = readProblem(state, view);
  if (problem !== undefined || !state.hasStore) return problem;
  if (state.replicatedTables.length === 0) return undefined;
  if (state.keeper === undefined) return "its keeper does not answer";
  if (state.readonlyTables > 0) return `${state.readonlyTables} of its tables take no writes`;
  const { needed, alive, total } = quorumOf(state, view);
  if (state.shards > 1 && needed !== total)
    return `with several shards every replica must have a row: CLICKHOUSE_INSERT_QUORUM has to be auto or ${total}`;
  return alive < needed
    ? `${alive} of ${total} replicas are available, and a write needs ${needed}`
    : undefined;
}

/** Whether every acknowledged row is on this server without its asking the others. */
export function hasAllAcknowledged(state: ReplicaState, view: ClusterView): boolean {
  if (view.all.every(({ replicatedTables }) => replicatedTables.length === 0)) return true;
  const { needed, total } = quorumOf(state, view);
  return needed >= total;
}
