import { randomUUID } from "node:crypto";
import type { Sql } from "../../../query/sql.ts";
import { createReplicaSelector, type SelectReplica } from "./select-replica.ts";
import { quorumOf, type ReplicaState, type ClusterView } from "./replica-health.ts";
import { NOT_ARRANGED, type ReplicaWatch } from "./replica-watch.ts";
import { REPLICA_DISCONNECTED, type Access, type Replica } from "./replica.ts";
import { distributedSettings } from "../shards/shards.ts";
import { isNotCurrent, StorageError, toStorageError } from "../../storage-error.ts";
import type { StatementResult, SendOptions, Transport } from "../../transport/transport.ts";

/** Wait for the quorum; afterwards the client may retry. */
const QUORUM_TIMEOUT_MS = 10_000;
/** Exponential backoff from 0.1 s: 3 s in total, in which Keeper can elect a leader. */
const KEEPER_RETRIES = 5;
/** Attempts per server: a broken connection is retried once. */
const TRIES = 2;
/** Total time a read waits for a replica with all acknowledged rows. */
const PATIENCE_MS = 10_000;
const PAUSE_MS = 100;
/** Keeper counts as down only after this time, so that slow servers do not look like it. */
const KEEPER_DOWN_MS = 2000;
/** Error code if rows are distributed over another number of shards. */
const ELSEWHERE = "ROWS_ELSEWHERE";

/**
 * Creates a transport over several servers of one store, in the order of CLICKHOUSE_URL. If a server fails, another repeats
 * the statement: statements are idempotent. A replica that may lack acknowledged rows catches up before it is read.
 */
export function createReplicaSet(watch: ReplicaWatch): Transport {
  const onOne = createFailover(watch);
  const write = async (options: SendOptions, task: (replica: Replica) => Promise<void>): Promise<void> => {
    await watch.begun;
    if (options.tables !== "per_shard") return onOne("writes", options, task);
    for (const shard of watch.shards()) await onOne("writes", { ...options, tables: shard }, task);
  };
  const onCurrent = async <Result>(
    statement: Sql,
    options: SendOptions,
    task: (replica: Replica) => Promise<Result>,
  ): Promise<Result> => {
    const giveUpMs = performance.now() + PATIENCE_MS;
    for (let tries = 0; ; tries++) {
      try {
        const select = createReplicaSelector(watch, statement, options.name, tries);
        return await onOne("reads", options, task, select);
      } catch (error) {
        if (!isNotCurrent(error) || options.signal?.aborted === true || performance.now() > giveUpMs)
          throw error;
        const downMs = keeperDownMs(watch);
        if (options.requireCurrent === true) {
          if (downMs > 0) throw error;
        } else if (downMs > KEEPER_DOWN_MS || !isReplicated(watch)) return onOne("reads", options, task);
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  };
  const read = (query: Sql, options: SendOptions): Promise<StatementResult> =>
    onCurrent(query, options, (replica) =>
      replica.run("reads", withSettings(replica, "reads", options), (abortable) =>
        transportOf(replica, options).read(query, abortable),
      ),
    );
  return {
    async read(query, options) {
      await watch.begun;
      if (options.tables !== "per_shard") return read(query, options);
      const results: StatementResult[] = [];
      for (const shard of watch.shards()) results.push(await read(query, { ...options, tables: shard }));
      return concatResults(results);
    },
    async command(statement, sendOptions) {
      // DDL needs no quorum: it may create the tables that the quorum lacks
      const access =
        sendOptions.tables === "local" || sendOptions.requireCurrent === true ? "reads" : "writes";
      const run = (replica: Replica) =>
        replica.run(access, sendOptions, (abortable) => replica.transport.command(statement, abortable));
      if (sendOptions.tables === "per_shard" && sendOptions.requireCurrent === true) {
        await watch.begun;
        for (const shard of watch.shards()) {
          await onCurrent(statement, { ...sendOptions, tables: shard }, (replica) => {
            const quorum = quorumSettings(replica.state(), watch.view());
            const settings = { ...sendOptions.settings, ...quorum };
            return replica.run("reads", { ...sendOptions, settings }, (abortable) =>
              replica.transport.command(statement, abortable),
            );
          });
        }
        return;
      }
      if (sendOptions.requireCurrent === true) return onCurrent(statement, sendOptions, run);
      return access === "reads" ? onOne("reads", sendOptions, run) : write(sendOptions, run);
    },
    insert(insert, sendOptions) {
      const once = onceSettings();
      return write(sendOptions, (replica) => {
        const quorum = quorumSettings(replica.state(), watch.view());
        const options = withSettings(replica, "writes", sendOptions);
        return replica.run(
          "writes",
          { ...options, settings: { ...options.settings, ...quorum, ...once } },
          (abortable) => transportOf(replica, sendOptions).insert(insert, abortable),
        );
      });
    },
    health: () => watch.health(),
    close: () => watch.close(),
  };
}

/** Concatenates results: all formats of `Engine` allow it. */
function concatResults(results: readonly StatementResult[]): StatementResult {
  return {
    bytes: Buffer.concat(results.map(({ bytes }) => bytes)),
    readRows: results.reduce((sum, { readRows }) => sum + readRows, 0),
    readBytes: results.reduce((sum, { readBytes }) => sum + readBytes, 0),
  };
}

/** Selects local or distributed tables. Throws `StorageError` "unavailable" if the shard layout differs. */
function transportOf(replica: Replica, { name, tables }: SendOptions): Transport {
  if (tables !== undefined) return replica.transport;
  if (!replica.state().isArranged) throw new StorageError("unavailable", name, ELSEWHERE, NOT_ARRANGED);
  return replica.distributedTransport();
}

function withSettings(replica: Replica, access: Access, options: SendOptions): SendOptions {
  const { shards, configured } = replica.state();
  if (options.tables !== undefined || shards === 1) return options;
  return { ...options, settings: { ...options.settings, ...distributedSettings(access, configured) } };
}

type OnOne = <Result>(
  access: Access,
  options: SendOptions,
  task: (replica: Replica) => Promise<Result>,
  choose?: SelectReplica,
) => Promise<Result>;

/** Runs a task on a usable replica, and on another one if that fails. */
function createFailover(watch: ReplicaWatch): OnOne {
  return async (access, { name, signal, tables }, task, choose = ([first]) => first!) => {
    await watch.begun;
    const shard = typeof tables === "number" ? tables : undefined;
    const tries = new Map<Replica, number>();
    const triesOf = (replica: Replica): number => tries.get(replica) ?? 0;
    for (let last: StorageError | undefined; ;) {
      if (watch.usable(access, shard).length === 0) await watch.poll();
      const usable = watch.usable(access, shard);
      if (usable.length === 0) throw watch.unusableError(access, name, shard);
      const candidates = usable.filter((replica) => triesOf(replica) < TRIES);
      if (candidates.length === 0) throw last!;
      const replica = await choose(candidates.toSorted((a, b) => triesOf(a) - triesOf(b)));
      try {
        return await task(replica);
      } catch (error) {
        if (signal?.aborted === true) throw error;
        last = toStorageError(error, name);
        if (!isOfOneServer(last)) throw last;
        tries.set(replica, triesOf(replica) + 1);
        if (last.engineCode !== REPLICA_DISCONNECTED) await watch.poll(replica);
        const isMissing = NO_STORE.has(last.engineCode ?? "");
        if (isMissing && watch.problemOf("reads", replica) === undefined) throw last;
      }
    }
  };
}

/** Milliseconds since any server reached ClickHouse Keeper, which alone knows what a replica lacks. */
function keeperDownMs(watch: ReplicaWatch): number {
  const nowMs = performance.now();
  return Math.min(
    ...watch.usable("reads").map((replica) => nowMs - (replica.state().keeperAwaySinceMs ?? nowMs)),
  );
}

/** True if acknowledged rows are on at least two replicas. */
function isReplicated(watch: ReplicaWatch): boolean {
  const view = watch.view();
  return view.all.some((state) => quorumOf(state, view).needed > 1);
}

/** UNKNOWN_TABLE, UNKNOWN_DATABASE: the server lacks the store's tables. */
const NO_STORE = new Set(["60", "81"]);
/** NO_ZOOKEEPER, TABLE_IS_READ_ONLY, KEEPER_EXCEPTION */
const TAKES_NO_WRITES = new Set(["225", "242", "999"]);
/** ALL_CONNECTION_TRIES_FAILED, ALL_REPLICAS_ARE_STALE concern another server; a timed-out statement is not retried. */
const NOT_OF_ONE_SERVER = new Set(["279", "369", "ETIMEDOUT"]);

/** True if the statement may succeed on another server. */
function isOfOneServer({ kind, engineCode = "" }: StorageError): boolean {
  if (NO_STORE.has(engineCode) || TAKES_NO_WRITES.has(engineCode) || kind === "no_space") return true;
  return kind === "unavailable" && !NOT_OF_ONE_SERVER.has(engineCode);
}

/**
 * Deduplicates by token: an insert that hung and was retried on another server stores nothing when it completes late.
 */
function onceSettings(): Readonly<Record<string, string>> {
  return { deduplicate_insert: "enable", insert_deduplication_token: randomUUID() };
}

function quorumSettings(state: ReplicaState, view: ClusterView): Readonly<Record<string, string | number>> {
  if (view.insertQuorum === undefined) return {};
  const { needed, total } = quorumOf(state, view);
  return {
    insert_quorum: total === 1 && needed === 1 ? 0 : needed,
    insert_quorum_timeout: QUORUM_TIMEOUT_MS,
    insert_keeper_max_retries: KEEPER_RETRIES,
  };
}
