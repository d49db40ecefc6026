import { trusted } from "../../../query/sql.ts";
import { createEngine } from "../../transport/create-engine.ts";
import type { ReplicaState } from "./replica-health.ts";
import { createReplicaProbe } from "./replica-probe.ts";
import { createSingleFlight } from "./single-flight.ts";
import { readStoredBlocks, type StoredBlocks } from "./stored-blocks.ts";
import { NOT_CURRENT, StorageError } from "../../storage-error.ts";
import type { SendOptions, Transport } from "../../transport/transport.ts";

export type Access = "reads" | "writes";

/** Watched server of the store. */
export interface Replica {
  /** Addresses its local tables. */
  readonly transport: Transport;
  /** Addresses the distributed tables. */
  distributedTransport(): Transport;
  state(): ReplicaState;
  /** Resolves after a probe that began at or after the call; never rejects. */
  probe(): Promise<void>;
  /** Runs a statement. Throws `StorageError` "unavailable" if `abortStatements` is called meanwhile. */
  run<Result>(
    access: Access,
    options: SendOptions,
    task: (options: SendOptions) => Promise<Result>,
  ): Promise<Result>;
  /** Aborts its running statements. */
  abortStatements(access: Access): void;
  /**
   * Waits until it has everything that other replicas had acknowledged at the call; the timeout grows with `triesBefore`.
   * Throws `StorageError` with `NOT_CURRENT`.
   */
  catchUp(tables: readonly string[], name: string, triesBefore: number): Promise<void>;
  /** Reads the blocks it has of these tables. Throws `StorageError`. */
  storedBlocks(tables: readonly string[]): Promise<readonly StoredBlocks[]>;
  /** True if it has caught up since it was last down. */
  isCurrent(): boolean;
  close(): Promise<void>;
}

export interface ReplicaOptions {
  readonly name: string;
  /** For statements on local tables. */
  readonly transport: Transport;
  /** For statements on tables distributed over `shards` shards. */
  readonly ofShards: (shards: number) => Transport;
  /** For probes, which must not queue behind statements. */
  readonly watching: Transport;
  /** For catching up, which may be slow. */
  readonly syncing: Transport;
  readonly cluster: string | undefined;
}

/** Code of a statement aborted because its replica became unusable. */
export const REPLICA_DISCONNECTED = "REPLICA_LEFT";

/** Timeout of catching up, by the number of previous tries. */
const CATCH_UP_MS = [800, 1600, 3200, 6400];
const CATCH_UP_ALL_MS = 60_000;
/** Time in which first tries skip a replica that failed to catch up. */
const LATE_MS = 2000;

export function createReplica(options: ReplicaOptions): Replica {
  const { name, transport, watching, syncing } = options;
  const transports = new Map<number, Transport>();
  const running: Record<Access, Set<AbortController>> = { reads: new Set(), writes: new Set() };
  const syncs = CATCH_UP_MS.map((ms) => createSingleFlight((table) => sendSync(syncing, table, ms)));
  const probe = createReplicaProbe(createEngine(watching), options);
  let catchingUp: Promise<void> | undefined;
  let isCurrent = false;
  let lateUntilMs = 0;

  const observe = async (): Promise<void> => {
    await probe.poll();
    const { answers, hasStore, keeper, replicatedTables } = probe.state();
    if (answers !== "yes" || !hasStore || keeper === undefined) isCurrent = false;
    else if (!isCurrent) catchingUp ??= catchUpWithAll(replicatedTables);
  };
  const catchUpWithAll = async (tables: readonly string[]): Promise<void> => {
    try {
      for (const table of tables) await sendSync(syncing, table, CATCH_UP_ALL_MS);
      isCurrent = true;
      lateUntilMs = 0;
    } catch {
      // the next probe retries
    } finally {
      catchingUp = undefined;
    }
  };
  const probes = createSingleFlight(observe);
  const behind = (statement: string): StorageError =>
    new StorageError("unavailable", statement, NOT_CURRENT, `${name} lacks what others have acknowledged`);

  return {
    transport,
    distributedTransport() {
      const { shards } = probe.state();
      if (shards === 1) return transport;
      const known = transports.get(shards);
      if (known !== undefined) return known;
      const made = options.ofShards(shards);
      transports.set(shards, made);
      return made;
    },
    state: () => probe.state(),
    probe: () => probes.after(name),
    async run(access, options, task) {
      const controller = new AbortController();
      const signals = [controller.signal, ...(options.signal === undefined ? [] : [options.signal])];
      running[access].add(controller);
      try {
        return await task({ ...options, signal: AbortSignal.any(signals) });
      } catch (error) {
        if (!controller.signal.aborted) throw error;
        const message = `${name} stopped responding`;
        throw new StorageError("unavailable", options.name, REPLICA_DISCONNECTED, message);
      } finally {
        running[access].delete(controller);
      }
    },
    abortStatements(access) {
      for (const controller of running[access]) controller.abort();
    },
    async catchUp(tables, statement, triesBefore) {
      const isLate = triesBefore === 0 && performance.now() < lateUntilMs;
      if (probe.state().keeper === undefined || isLate) throw behind(statement);
      const sync = syncs[Math.min(triesBefore, syncs.length - 1)]!;
      try {
        await Promise.all(tables.map((table) => sync.after(table)));
      } catch {
        lateUntilMs = performance.now() + LATE_MS;
        throw behind(statement);
      }
    },
    storedBlocks: createBlockReader(syncing),
    isCurrent: () => isCurrent,
    async close() {
      await Promise.all([transport, watching, syncing, ...transports.values()].map((one) => one.close()));
    },
  };
}

function createBlockReader(syncing: Transport): Replica["storedBlocks"] {
  const engine = createEngine(syncing);
  const blocks = createSingleFlight((table) =>
    readStoredBlocks(engine, table, AbortSignal.timeout(CATCH_UP_MS[0]!)),
  );
  return async (tables) => (await Promise.all(tables.map((table) => blocks.after(table)))).flat();
}

/** Sends SYSTEM SYNC REPLICA; LIGHTWEIGHT, so that it does not wait for merges. */
function sendSync(syncing: Transport, table: string, timeoutMs: number): Promise<void> {
  const seconds = Math.ceil(timeoutMs / 1000);
  return syncing.command(trusted(`SYSTEM SYNC REPLICA \`${table}\` LIGHTWEIGHT`), {
    name: "replica_catch_up",
    profile: "interactive",
    settings: { max_execution_time: seconds + 1, receive_timeout: seconds },
    signal: AbortSignal.timeout(timeoutMs),
  });
}
