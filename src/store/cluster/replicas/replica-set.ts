import { randomUUID } from "node:crypto";
import type { Sql } from "../../../query/sql.ts";
import { createReplicaSelector, type SelectReplica } from "./select-replica.ts";
import { quorumOf, type ReplicaState, type ClusterView } from "./replica-health.ts";
import { NOT_ARRANGED, type ReplicaWatch } from "./replica-watch.ts";
import { REPLICA_DISCONNECTED, type Access, type Replica } from "./replica.ts";
import { distributedSettings } from "../shards/shards.ts";
import { isNotCurrent, StorageError, toStorageError } from "../../storage-error.ts";
import type { Answer, SendOptions, Transport } from "../../transport/transport.ts";

/** A quorum that is not there by then is not there: the client may send again. */
const QUORUM_TIMEOUT_MS = 10_000;
/** Waits of 0.1 s, doubled each time: three seconds, in which keepers may choose another leader. */
const KEEPER_RETRIES = 5;
/** A server that only broke a connection is tried once more. */
const TRIES = 2;
/** How long a read waits, over several attempts, for a server that has everything. */
const PATIENCE_MS = 10_000;
const PAUSE_MS = 100;
/** Slow servers are not taken for an absent keeper. */
const AWAY_MS = 2000;
/** The error code when rows are arranged for another number of shards. */
const ELSEWHERE = "ROWS_ELSEWHERE";

/**
 * Several servers of one store as one. Reads go to the first that answers and has the store, writes to the first that
 * also takes them. What a server cannot do because it goes away is done by another: statements are safe to repeat.
 * A server that may lack rows acknowledged by others catches up before it is read.
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
        const awayMs = keeperAwayMs(watch);
        if (options.requireCurrent === true) {
          if (awayMs > 0) throw error;
        } else if (awayMs > AWAY_MS || !isOnOthers(watch)) return onOne("reads", options, task);
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  };
  const read = (query: Sql, options: SendOptions): Promise<Answer> =>
    onCurrent(query, options, (replica) =>
      replica.run("reads", withSettings(replica, "reads", options), (cuttable) =>
        transportOf(replica, options).read(query, cuttable),
      ),
    );
  return {
    async read(query, options) {
      await watch.begun;
      if (options.tables !== "per_shard") return read(query, options);
      const answers: Answer[] = [];
      for (const shard of watch.shards()) answers.push(await read(query, { ...options, tables: shard }));
      return together(answers);
    },
    async command(statement, sendOptions) {
      // what makes tables needs no quorum: it may be what the quorum lacks
      const access =
        sendOptions.tables === "local" || sendOptions.requireCurrent === true ? "reads" : "writes";
      const run = (replica: Replica) =>
        replica.run(access, sendOptions, (cuttable) => replica.transport.command(statement, cuttable));
      if (sendOptions.tables === "per_shard" && sendOptions.requireCurrent === true) {
        await watch.begun;
        for (const shard of watch.shards()) {
          await onCurrent(statement, { ...sendOptions, tables: shard }, (replica) => {
            const quorum = quorumSettings(replica.state(), watch.view());
            const settings = { ...sendOptions.settings, ...quorum };
            return replica.run("reads", { ...sendOptions, settings }, (cuttable) =>
              replica.transport.command(statement, cuttable),
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
          (cuttable) => transportOf(replica, sendOptions).insert(insert, cuttable),
        );
      });
    },
    health: () => watch.health(),
    close: () => watch.close(),
  };
}

/** All formats of `Engine` can be appended to each other. */
function together(answers: readonly Answer[]): Answer {
  return {
    bytes: Buffer.concat(answers.map(({ bytes }) => bytes)),
    readRows: answers.reduce((sum, { readRows }) => sum + readRows, 0),
    readBytes: answers.reduce((sum, { readBytes }) => sum + readBytes, 0),
  };
}

/** The tables that a statement names: a server's own, or those of all shards. Errors: these are not all there. */
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

/** Runs a task on a suitable replica, and on another one if that goes away. */
function createFailover(watch: ReplicaWatch): OnOne {
  return async (access, { name, signal, tables }, task, choose = ([first]) => first!) => {
    await watch.begun;
    const shard = typeof tables === "number" ? tables : undefined;
    const tries = new Map<Replica, number>();
    const triesOf = (replica: Replica): number => tries.get(replica) ?? 0;
    for (let last: StorageError | undefined; ;) {
      if (watch.usable(access, shard).length === 0) await watch.look();
      const usable = watch.usable(access, shard);
      if (usable.length === 0) throw watch.refusal(access, name, shard);
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
        if (last.engineCode !== REPLICA_DISCONNECTED) await watch.look(replica);
        const isMissing = NO_STORE.has(last.engineCode ?? "");
        if (isMissing && watch.problemOf("reads", replica) === undefined) throw last;
      }
    }
  };
}

/** For how long no server has heard from its keeper, which alone knows what a server lacks. */
function keeperAwayMs(watch: ReplicaWatch): number {
  const nowMs = performance.now();
  return Math.min(
    ...watch.usable("reads").map((replica) => nowMs - (replica.state().keeperAwaySinceMs ?? nowMs)),
  );
}

/** Whether what was acknowledged is on more than the one server that may be away. */
function isOnOthers(watch: ReplicaWatch): boolean {
  const view = watch.view();
  return view.all.some((state) => quorumOf(state, view).needed > 1);
}

/** UNKNOWN_TABLE, UNKNOWN_DATABASE: of a server that has the store no statement of ours gets these. */
const NO_STORE = new Set(["60", "81"]);
/** NO_ZOOKEEPER, TABLE_IS_READ_ONLY, KEEPER_EXCEPTION */
const TAKES_NO_WRITES = new Set(["225", "242", "999"]);
/** ALL_CONNECTION_TRIES_FAILED, ALL_REPLICAS_ARE_STALE are about another server; a statement's own time is not given to it again. */
const NOT_OF_ONE_SERVER = new Set(["279", "369", "ETIMEDOUT"]);

/** Whether another server may do better. */
function isOfOneServer({ kind, engineCode = "" }: StorageError): boolean {
  if (NO_STORE.has(engineCode) || TAKES_NO_WRITES.has(engineCode) || kind === "no_space") return true;
  return kind === "unavailable" && !NOT_OF_ONE_SERVER.has(engineCode);
}

/**
 * Of inserts with one token the keeper takes the first, so that one that hangs, and has been repeated on another server,
 * stores nothing when it comes late.
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
