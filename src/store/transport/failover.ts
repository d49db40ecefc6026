import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { StorageError, toStorageError } from "../storage-error.ts";
import type { Insert, SendOptions, StatementResult, Transport } from "./transport.ts";
import type { Sql } from "../../query/sql.ts";

export interface FailoverOptions<Server> {
  /** Resolves once the server has everything that was acknowledged at the call; throws if it cannot serve. */
  readonly catchUp: (server: Server) => Promise<void>;
  /** Throws if the server does not respond or has restarted since it caught up, or `StorageError` "read_only". */
  readonly check: (server: Server) => Promise<void>;
  /** Called when another server serves; `undefined`: none does. */
  readonly onSwitch?: ((server: Server | undefined) => void) | undefined;
}

/** A server, from when it begins to serve. */
class Serving<Server> {
  readonly server: Server;
  /** Aborts its statements. */
  readonly stop = new AbortController();
  readonly writes = new Set<Promise<unknown>>();

  constructor(server: Server) {
    this.server = server;
  }
}

const CHECK_EVERY_MS = 500;
/** Failed checks in a row after which a server that hangs is left. */
const MAX_FAILED_CHECKS = 2;
/** Wait for the running writes when an earlier server returns. */
const MAX_WAIT_MS = 5000;
/** UNKNOWN_TABLE, UNKNOWN_DATABASE: it has lost its disk. */
const NO_STORE = new Set(["60", "81"]);
/** NO_ZOOKEEPER, TABLE_IS_READ_ONLY, KEEPER_EXCEPTION */
const NO_WRITES = new Set(["225", "242", "999"]);
/** ALL_CONNECTION_TRIES_FAILED and ALL_REPLICAS_ARE_STALE concern other servers; a timed-out statement is not repeated. */
const NOT_REPEATED = new Set(["279", "369", "ETIMEDOUT"]);

/**
 * Sends all statements to the first server, in order, that can serve, until it fails. The next one repeats the statement, an
 * insert with the same deduplication token. An earlier server serves again as soon as it can, so that several services agree.
 */
export class Failover<Server extends Transport> implements Transport {
  readonly #servers: readonly Server[];
  readonly #options: FailoverOptions<Server>;
  #current: Serving<Server> | undefined;
  /** Statements wait for it. */
  #switching: Promise<Serving<Server>> | undefined;
  #reconsidering: Promise<void> | undefined;
  #failedChecks = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(servers: readonly Server[], options: FailoverOptions<Server>) {
    this.#servers = servers;
    this.#options = options;
    this.#watchSoon();
  }

  /** Resolves with the server that serves. Throws `StorageError` if none can. */
  async serving(): Promise<Server> {
    return (await this.#now()).server;
  }

  read(query: Sql, options: SendOptions): Promise<StatementResult> {
    return this.#run(options, false, (server, more) => server.read(query, more));
  }

  command(statement: Sql, options: SendOptions): Promise<void> {
    return this.#run(options, true, (server, more) => server.command(statement, more));
  }

  insert(insert: Insert, options: SendOptions): Promise<void> {
    const once = { deduplicate_insert: "enable", insert_deduplication_token: randomUUID() };
    const settings = { ...options.settings, ...once };
    return this.#run({ ...options, settings }, true, (server, more) => server.insert(insert, more));
  }

  /** Stops watching; the servers belong to the caller. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #run<Result>(
    options: SendOptions,
    isWrite: boolean,
    task: (server: Server, options: SendOptions) => Promise<Result>,
  ): Promise<Result> {
    for (let tries = 0; ; tries++) {
      const serving = await this.#now();
      const { signal: stopped } = serving.stop;
      const signals = options.signal === undefined ? [stopped] : [stopped, options.signal];
      const running = task(serving.server, { ...options, signal: AbortSignal.any(signals) });
      if (isWrite) serving.writes.add(running);
      try {
        return await running;
      } catch (error) {
        if (options.signal?.aborted === true || tries > this.#servers.length) throw error;
        const failure = stopped.aborted ? hanging(options.name) : toStorageError(error, options.name);
        if (!(await this.#canRepeat(serving, failure))) throw failure;
      } finally {
        serving.writes.delete(running);
      }
    }
  }

  async #canRepeat(failed: Serving<Server>, { kind, engineCode = "" }: StorageError): Promise<boolean> {
    if (NOT_REPEATED.has(engineCode)) return false;
    const hasAnswered = /^\d+$/.test(engineCode);
    if (NO_STORE.has(engineCode) || (kind === "unavailable" && !hasAnswered)) {
      if (this.#current === failed) await (this.#switching ?? this.#switchBy(() => this.#chooseOr(failed)));
      return true;
    }
    if (kind === "unavailable" || NO_WRITES.has(engineCode)) await this.#reconsider();
    return this.#current !== failed;
  }

  async #now(): Promise<Serving<Server>> {
    return this.#switching ?? this.#current ?? this.#switchBy(() => this.#choose());
  }

  #become(next: Serving<Server> | undefined): void {
    if (this.#current?.server !== next?.server) this.#options.onSwitch?.(next?.server);
    this.#current = next;
    this.#failedChecks = 0;
  }

  #switchBy(choose: () => Promise<Serving<Server>>): Promise<Serving<Server>> {
    const switched = async (): Promise<Serving<Server>> => {
      try {
        const next = await choose();
        this.#become(next);
        return next;
      } catch (error) {
        this.#become(undefined);
        throw error;
      } finally {
        this.#switching = undefined;
      }
    };
    return (this.#switching = switched());
  }

  async #choose(): Promise<Serving<Server>> {
    const attempts = this.#servers.map((server) => this.#problemOf(server));
    const problems: StorageError[] = [];
    for (const [index, attempt] of attempts.entries()) {
      const problem = await attempt;
      if (problem === undefined) return new Serving(this.#servers[index]!);
      problems.push(problem);
    }
    const { kind, engineCode } = problems[0]!;
    const details = new Set(problems.map(({ detail }) => detail));
    throw new StorageError(
      kind === "statement" ? kind : "unavailable",
      "failover",
      engineCode,
      [...details].join("; "),
    );
  }

  /** Without ClickHouse Keeper none can catch up: the one that served remains if only its connection broke. */
  async #chooseOr(failed: Serving<Server>): Promise<Serving<Server>> {
    try {
      return await this.#choose();
    } catch (error) {
      const problem = await this.#options.check(failed.server).then(
        () => undefined,
        (reason: unknown) => toStorageError(reason, "failover"),
      );
      if (problem !== undefined && problem.kind !== "read_only") throw error;
      return failed;
    }
  }

  /** `undefined` if it has caught up. */
  #problemOf(server: Server): Promise<StorageError | undefined> {
    return this.#options.catchUp(server).then(
      () => undefined,
      (error: unknown) => toStorageError(error, "failover"),
    );
  }

  /** For a server that takes no writes, or cannot reach others: it still serves reads unless another one can serve. */
  #reconsider(): Promise<void> {
    const before = this.#current;
    const choose = async (): Promise<void> => {
      try {
        const next = await this.#choose();
        if (this.#current === before) this.#become(next);
      } catch {
        // it remains
      } finally {
        this.#reconsidering = undefined;
      }
    };
    return (this.#reconsidering ??= choose());
  }

  #watchSoon(): void {
    const watch = async (): Promise<void> => {
      await this.#watch();
      if (this.#timer !== undefined) this.#watchSoon();
    };
    this.#timer = setTimeout(() => void watch(), CHECK_EVERY_MS).unref();
  }

  async #watch(): Promise<void> {
    const serving = this.#current;
    if (serving === undefined) return;
    try {
      await this.#options.check(serving.server);
      this.#failedChecks = 0;
    } catch (error) {
      if (toStorageError(error, "failover").kind === "read_only") return this.#reconsider();
      if (++this.#failedChecks < MAX_FAILED_CHECKS || this.#current !== serving) return;
      this.#become(undefined);
      serving.stop.abort();
      return;
    }
    for (const server of this.#servers.slice(0, this.#servers.indexOf(serving.server)))
      if ((await this.#problemOf(server)) === undefined) return this.#return(server, serving);
  }

  /** Statements wait until the writes on the other server have ended and this one has them. */
  async #return(server: Server, from: Serving<Server>): Promise<void> {
    if (this.#current !== from || this.#switching !== undefined) return;
    await this.#switchBy(async () => {
      await Promise.race([Promise.allSettled(from.writes), delay(MAX_WAIT_MS, undefined, { ref: false })]);
      return (await this.#problemOf(server)) === undefined ? new Serving(server) : from;
    });
  }
}

function hanging(name: string): StorageError {
  return new StorageError("unavailable", name, undefined, "the server stopped responding");
}
