import type { StoreHealth } from "../../engine.ts";
import { readProblem, writeProblem, type ClusterView } from "./replica-health.ts";
import type { Access, Replica } from "./replica.ts";
import { StorageError, type StorageErrorKind } from "../../storage-error.ts";

export interface ReplicaChange extends StoreHealth {
  readonly replica: string;
}

export interface WatchOptions {
  /** In a cluster: how many replicas must have a row before it counts as stored; a number, or `auto` for most. */
  readonly insertQuorum: string | undefined;
  /** Called for every server whose state changes. */
  readonly onChange?: ((change: ReplicaChange) => void) | undefined;
}

/** The state of all servers of one store, checked twice a second. */
export interface ReplicaWatch {
  /** Every server has been checked once. */
  readonly begun: Promise<void>;
  view(): ClusterView;
  /** 1, 2, … as far as the cluster has shards. */
  shards(): readonly number[];
  /** Those that would do, in the order of the settings; slow ones only when there is no other. Default: of all shards. */
  usable(access: Access, shard?: number): readonly Replica[];
  problemOf(access: Access, replica: Replica): string | undefined;
  /** Looks now. Default: at all. */
  look(replica?: Replica): Promise<void>;
  /** Why none would do. Default: of all shards. */
  refusal(access: Access, statement: string, shard?: number): StorageError;
  health(): Promise<StoreHealth>;
  close(): Promise<void>;
}

const LOOK_EVERY_MS = 500;
export const NOT_NAMED = "CLICKHOUSE_URL names no server of it";
export const NOT_ARRANGED = "the cluster has another number of shards than its data is arranged for";

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
  const lookAt = async (replica: Replica): Promise<void> => {
    await replica.probe();
    judge();
  };
  const look = async (replica?: Replica): Promise<void> => {
    await Promise.all((replica === undefined ? replicas : [replica]).map(lookAt));
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

  const begun = look();
  const timers = replicas.map((replica) => setInterval(() => void lookAt(replica), LOOK_EVERY_MS).unref());
  return {
    begun,
    view,
    shards,
    usable,
    problemOf,
    look,
    refusal(access, statement, shard) {
      const problem = health(access, shard === undefined ? undefined : [shard]);
      return new StorageError(kindOf(access, usable("reads", shard)), statement, undefined, problem ?? "");
    },
    async health() {
      await look();
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
