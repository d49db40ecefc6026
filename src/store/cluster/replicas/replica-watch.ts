import type { StoreHealth } from "../../engine.ts";
import { readProblem, writeProblem, type ClusterView } from "./replica-health.ts";
import type { Access, Replica } from "./replica.ts";
import { StorageError, type StorageErrorKind } from "../../storage-error.ts";

export interface ReplicaChange extends StoreHealth {
  readonly replica: string;
}

export interface WatchOptions {
  /** Cluster only: replicas that must store a row before it is acknowledged; a number, or `auto` for a majority. */
  readonly insertQuorum: string | undefined;
  /** Called when the health of a server changes. */
  readonly onChange?: ((change: ReplicaChange) => void) | undefined;
}

/** Watch over the servers of one store, probed twice a second. */
export interface ReplicaWatch {
  /** Resolves when every server has been probed once. */
  readonly begun: Promise<void>;
  view(): ClusterView;
  /** Shard numbers, from 1. */
  shards(): readonly number[];
  /** Lists usable replicas in the order of CLICKHOUSE_URL; suspects only if there is no other. Default: of all shards. */
  usable(access: Access, shard?: number): readonly Replica[];
  problemOf(access: Access, replica: Replica): string | undefined;
  /** Probes now. Default: all replicas. */
  poll(replica?: Replica): Promise<void>;
  /** Creates the error of having no usable replica. Default: of all shards. */
  unusableError(access: Access, statement: string, shard?: number): StorageError;
  health(): Promise<StoreHealth>;
  close(): Promise<void>;
}

const PROBE_INTERVAL_MS = 500;
export const NOT_NAMED = "CLICKHOUSE_URL names no server of it";
export const NOT_ARRANGED = "the cluster's number of shards differs from that of its data";

/** Watches servers, and aborts the statements on those that become unusable. */
export function watchReplicas(replicas: readonly Replica[], options: WatchOptions): ReplicaWatch {
  const report = createReporter(options.onChange);
  let isStoreKnown = false;

  const view = (): ClusterView => ({
    all: replicas.map((replica) => replica.state()),
    isStoreKnown,
    insertQuorum: options.insertQuorum,
  });
  const problemOf = (access: Access, replica: Replica): string | undefined =>
    (access === "reads" ? readProblem : writeProblem)(replica.state(), view());
  const shards = (): readonly number[] => {
    const count = Math.max(...replicas.map((replica) => replica.state().shards));
    return Array.from({ length: count }, (_, index) => index + 1);
  };
  const ofShard = (shard: number | undefined): readonly Replica[] =>
    shard === undefined || shards().length === 1
      ? replicas
      : replicas.filter((replica) => replica.state().shard === shard);
  const usable = (access: Access, shard?: number): readonly Replica[] => {
    const all = ofShard(shard).filter((replica) => problemOf(access, replica) === undefined);
    const quick = all.filter((replica) => replica.state().answers === "yes");
    return quick.length > 0 ? quick : all;
  };
  const judge = (): void => {
    isStoreKnown ||= replicas.some((replica) => replica.state().hasStore);
    for (const replica of replicas) {
      for (const access of ["reads", "writes"] as const)
        if (!usable(access, replica.state().shard).includes(replica)) replica.abortStatements(access);
      report(replica, { reads: problemOf("reads", replica), writes: problemOf("writes", replica) });
    }
  };
  const probe = async (replica: Replica): Promise<void> => {
    await replica.probe();
    judge();
  };
  const poll = async (replica?: Replica): Promise<void> => {
    await Promise.all((replica === undefined ? replicas : [replica]).map(probe));
  };
  const problemOfShard = (access: Access, shard: number): string | undefined => {
    const able = usable(access, shard);
    if (able.some((replica) => replica.state().isArranged)) return undefined;
    if (able.length > 0) return NOT_ARRANGED;
    const all = ofShard(shard);
    const problems = [...new Set(all.map((replica) => problemOf(access, replica)))].join("; ");
    if (shards().length === 1) return problems;
    const isNamed = all.length > 0 || replicas.some((replica) => replica.state().shard === undefined);
    return `shard ${shard}: ${isNamed ? problems || "its servers do not answer" : NOT_NAMED}`;
  };
  const health = (access: Access, only: readonly number[] = shards()): string | undefined => {
    const problems = only.map((shard) => problemOfShard(access, shard)).filter((one) => one !== undefined);
    return problems.length === 0 ? undefined : [...new Set(problems)].join("; ");
  };

  const begun = poll();
  const timers = replicas.map((replica) => setInterval(() => void probe(replica), PROBE_INTERVAL_MS).unref());
  return {
    begun,
    view,
    shards,
    usable,
    problemOf,
    poll,
    unusableError(access, statement, shard) {
      const problem = health(access, shard === undefined ? undefined : [shard]);
      return new StorageError(kindOf(access, usable("reads", shard)), statement, undefined, problem ?? "");
    },
    async health() {
      await poll();
      return { reads: health("reads"), writes: health("writes") };
    },
    async close() {
      for (const timer of timers) clearInterval(timer);
      await begun;
      await Promise.all(replicas.map((replica) => replica.close()));
    },
  };
}

function kindOf(access: Access, readable: readonly Replica[]): StorageErrorKind {
  return access === "reads" || readable.length === 0 ? "unavailable" : "read_only";
}

/** Reports each change once. */
function createReporter(onChange: WatchOptions["onChange"]): (replica: Replica, health: StoreHealth) => void {
  const reported = new Map<Replica, string>();
  return (replica, health) => {
    const text = JSON.stringify(health);
    if (reported.get(replica) === text) return;
    reported.set(replica, text);
    onChange?.({ replica: replica.state().name, ...health });
  };
}
