import type { StoreHealth } from "./engine.ts";
import { readProblem, writeProblem, type View } from "./replica-health.ts";
import type { Access, Replica } from "./replica.ts";
import { StorageError } from "./storage-error.ts";

export interface ReplicaChange extends StoreHealth {
  readonly replica: string;
}

export interface WatchOptions {
  /** In a cluster: how many replicas must have a row before it counts as stored; a number, or `auto` for most. */
  readonly insertQuorum: string | undefined;
  /** Hears of every server whose state changes. */
  readonly onChange?: ((change: ReplicaChange) => void) | undefined;
}

/** What is known of all servers of one store, looked at twice a second. */
export interface ReplicaWatch {
  /** Every server has been checked once. */
  readonly begun: Promise<void>;
  view(): View;
  /** Those that would do, in the order of the settings; slow ones only when there is no other. */
  usable(access: Access): readonly Replica[];
  problemOf(access: Access, replica: Replica): string | undefined;
  /** Looks now. Default: at all. */
  look(replica?: Replica): Promise<void>;
  /** Why none would do. */
  refusal(access: Access, statement: string): StorageError;
  health(): Promise<StoreHealth>;
  close(): Promise<void>;
}

const LOOK_EVERY_MS = 500;

/** Watches servers, and aborts the statements on those that become unusable. */
export function watchReplicas(replicas: readonly Replica[], options: WatchOptions): ReplicaWatch {
  const tell = createTeller(options.onChange);
  let isStoreKnown = false;

  const view = (): View => ({
    all: replicas.map((replica) => replica.state()),
    isStoreKnown,
    insertQuorum: options.insertQuorum,
  });
  const problemOf = (access: Access, replica: Replica): string | undefined =>
    (access === "reads" ? readProblem : writeProblem)(replica.state(), view());
  const usable = (access: Access): readonly Replica[] => {
    const all = replicas.filter((replica) => problemOf(access, replica) === undefined);
    const quick = all.filter((replica) => replica.state().answers === "yes");
    return quick.length > 0 ? quick : all;
  };
  const judge = (): void => {
    isStoreKnown ||= replicas.some((replica) => replica.state().hasStore);
    for (const replica of replicas) {
      for (const access of ["reads", "writes"] as const)
        if (!usable(access).includes(replica)) replica.cut(access);
      tell(replica, { reads: problemOf("reads", replica), writes: problemOf("writes", replica) });
    }
  };
  const lookAt = async (replica: Replica): Promise<void> => {
    await replica.look();
    judge();
  };
  const look = async (replica?: Replica): Promise<void> => {
    await Promise.all((replica === undefined ? replicas : [replica]).map(lookAt));
  };
  const health = (access: Access): string | undefined =>
    usable(access).length > 0
      ? undefined
      : [...new Set(replicas.map((replica) => problemOf(access, replica)))].join("; ");

  const begun = look();
  const timers = replicas.map((replica) => setInterval(() => void lookAt(replica), LOOK_EVERY_MS).unref());
  return {
    begun,
    view,
    usable,
    problemOf,
    look,
    refusal(access, statement) {
      const kind = access === "writes" && usable("reads").length > 0 ? "read_only" : "unavailable";
      return new StorageError(kind, statement, undefined, health(access) ?? "");
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

/** Tells each change once. */
function createTeller(onChange: WatchOptions["onChange"]): (replica: Replica, health: StoreHealth) => void {
  const told = new Map<Replica, string>();
  return (replica, health) => {
    const text = JSON.stringify(health);
    if (told.get(replica) === text) return;
    told.set(replica, text);
    onChange?.({ replica: replica.state().name, ...health });
  };
}
