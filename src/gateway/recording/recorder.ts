import type { FastifyBaseLogger } from "fastify";
import { isPermanentError } from "../../calls/write/is-permanent-error.ts";
import type { Journal } from "../../journal/journal.ts";
import type { Clock } from "../../shared/clock.ts";
import { AppError } from "../../shared/errors.ts";
import type { Project } from "../../shared/project.ts";
import { CountedLog } from "../counted-log.ts";
import { CompletionJournal, type JournaledCompletion } from "./completion-journal.ts";
import { withoutContent, type EndedCompletion, type RecordedCompletion } from "./recorded-completion.ts";

/** Store of recorded completions. */
export interface CompletionStore {
  /** Resolves when the completion is durable. Must be idempotent. Throws `StorageError`. */
  write(project: Project, completion: RecordedCompletion): Promise<void>;
  /** Returns the ids of the stored calls among `calls`. */
  findStored(calls: readonly { project: Project; callId: string }[]): Promise<ReadonlySet<string>>;
}

export interface RecorderOptions {
  readonly store: CompletionStore;
  /** Undefined: unstored completions are lost with the process. */
  readonly journal: Journal | undefined;
  readonly clock: Clock;
  readonly logger: FastifyBaseLogger;
  /** Completions in memory; others are only in the journal. */
  readonly maxPendingCalls: number;
  readonly maxPendingBytes: number;
}

interface RecordOptions {
  readonly bytes: number;
  /** Called when the completion is stored, or dropped. */
  readonly onOver?: (() => void) | undefined;
}

interface Pending extends JournaledCompletion {
  readonly queuedAtMs: number;
  /** Inputs and output were dropped; counts remain. */
  readonly isBare: boolean;
}

const MAX_BATCH = 500;
/** A pause after each batch, so that a busy recorder writes few and large ones. */
const MS_PER_COMPLETION = 25;
const MAX_PAUSE_MS = 500;
/** Time to wait for the completions of a killed process. */
const MAX_RECOVERY_MS = 5000;
/** Limit of completions read back from the journal at once. */
const MAX_READ_BYTES = 16 * 1024 * 1024;
const MIN_RETRY_DELAY_MS = 100;
const MAX_RETRY_DELAY_MS = 5000;
/**
 * A completion is dropped after the store has rejected it, and then its counts alone, for this long. Outages do not count.
 */
const MAX_REJECTED_MS = 15 * 60_000;

/**
 * Records completions without making the relay wait for the store. A completion is in the journal and in memory, or only in
 * the journal while memory is full. Without space in either, inputs and output are dropped: counts of relayed completions are
 * always accepted, and `admit` rejects new requests before there are too many.
 */
export class Recorder {
  readonly #options: RecorderOptions;
  readonly #journal: CompletionJournal;
  readonly #dropLog: CountedLog;
  /** Completions in memory by call: the records of one are written in their order. */
  readonly #pending = new Map<string, readonly Pending[]>();
  #pendingBytes = 0;
  /** Names of completions that are only in the journal. */
  #journaled: string[];
  readonly #onOver = new Map<string, () => void>();
  /** Completions of a killed process that are not recorded yet. */
  readonly #orphans: Set<string>;
  readonly #recovery = Promise.withResolvers<void>();
  #recorded = 0;
  #dropped = 0;
  readonly #recovered = { finished: 0, cut: 0 };
  #running: Promise<void> | undefined;
  #wake: () => void = () => undefined;
  #draining = false;

  /** Starts recording completions orphaned by a killed process. */
  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#dropLog = new CountedLog(options.clock);
    this.#journal = new CompletionJournal(options.journal);
    this.#journaled = this.#journal.names();
    this.#orphans = new Set(this.#journaled);
    if (this.#orphans.size === 0) this.#recovery.resolve();
    if (this.#journaled.length > 0) this.#running = this.#run();
  }

  /** Waits until all that a killed process has left is recorded, or dropped. Throws service_overloaded after a while. */
  async recover(): Promise<void> {
    if (this.#orphans.size === 0) return;
    const timeout = Promise.withResolvers<boolean>();
    const timer = setTimeout(timeout.resolve, MAX_RECOVERY_MS, true);
    const isLate = await Promise.race([this.#recovery.promise, timeout.promise]);
    clearTimeout(timer);
    if (isLate !== true) return;
    const wait = { retryAfterSeconds: 5 };
    throw new AppError(
      "service_overloaded",
      "Completions of a killed process are still being recorded.",
      wait,
    );
  }

  /**
   * Journals a completion that is sent; recorded in this form if the process is killed before its end. Resolves to false if it
   * could not be written.
   */
  start(name: string, project: Project, started: () => EndedCompletion): Promise<boolean> {
    return this.#journal.start(name, project, started);
  }

  /** Forgets a completion that was not sent. */
  cancel(name: string): void {
    this.#journal.remove([name]);
  }

  /** Call before the upstream is billed. Throws service_overloaded if nothing more can be recorded. */
  admit(): void {
    if (this.#journal.isWritable || this.#pending.size < this.#options.maxPendingCalls) return;
    const wait = { retryAfterSeconds: 5 };
    throw new AppError("service_overloaded", "Too many completions are waiting to be recorded.", wait);
  }

  /**
   * Records a completion of about `bytes` bytes, or only its counts if there is no space. Resolves when it is in the journal:
   * then the end of the process does not lose it. Later records of a call replace earlier ones in the store, so they are written
   * in their order. A name is used once.
   */
  async record(
    name: string,
    project: Project,
    completion: EndedCompletion,
    { bytes, onOver }: RecordOptions,
  ) {
    const { maxPendingCalls, maxPendingBytes, clock } = this.#options;
    if (onOver !== undefined) this.#onOver.set(name, onOver);
    const isWritten = await this.#journal.end(name, project, completion);
    const isFull = this.#pending.size >= maxPendingCalls || this.#pendingBytes + bytes > maxPendingBytes;
    const one = { name, project, completion, bytes, orphaned: undefined, queuedAtMs: clock.now() };
    // behind others in the journal, records keep their order
    if (isWritten && (isFull || this.#journaled.length > 0)) this.#journaled.push(name);
    else this.#add(isFull ? bareOf(one) : { ...one, isBare: false });
    this.#running ??= this.#run();
    if (this.#pending.size >= MAX_BATCH) this.#wake();
  }

  /**
   * Resolves when all completions are durable. After `timeoutMs`, the rest stays in the journal; completions missing there
   * are dropped.
   */
  async drain(timeoutMs: number): Promise<void> {
    this.#draining = true;
    this.#wake();
    const deadline = Promise.withResolvers<void>();
    const timer = setTimeout(deadline.resolve, timeoutMs);
    await Promise.race([this.#running, deadline.promise]);
    clearTimeout(timer);
    const journaled = new Set(this.#journal.names());
    const left = [...this.#pending.values()].flat();
    const lost = left.filter(({ name }) => !journaled.has(name)).length;
    const kept = left.length + this.#journaled.length - lost;
    this.#drop(lost, "not stored before shutdown");
    this.#dropLog.flush((count) => this.#logDropped(count));
    if (kept > 0)
      this.#options.logger.warn(
        { count: kept },
        "unstored completions kept in the journal for the next start",
      );
    this.#pending.clear();
    this.#pendingBytes = 0;
    this.#journaled = [];
    this.#draining = false;
  }

  counts() {
    return {
      pending: [...this.#pending.values()].flat().length + this.#journaled.length,
      recorded: this.#recorded,
      dropped: this.#dropped,
      /** Read from the journal of killed processes: finished, or cut by the kill. */
      recovered: this.#recovered,
      /** Rejected by the journal at their end. */
      unjournaled: this.#journal.rejected,
    };
  }

  #add(one: Pending): void {
    const { callId } = one.completion;
    this.#pending.set(callId, [...(this.#pending.get(callId) ?? []), one]);
    this.#pendingBytes += one.bytes;
  }

  async #run(): Promise<void> {
    let delayMs = MIN_RETRY_DELAY_MS;
    while (this.#pending.size + this.#journaled.length > 0) {
      const waiting = this.#pending.size;
      if (!(await this.#recordBatch())) {
        await this.#pause(this.#draining ? MIN_RETRY_DELAY_MS : delayMs);
        delayMs = Math.min(delayMs * 2, MAX_RETRY_DELAY_MS);
        continue;
      }
      delayMs = MIN_RETRY_DELAY_MS;
      if (!this.#draining && this.#pending.size < MAX_BATCH && this.#journaled.length === 0)
        await this.#pause(Math.min(MAX_PAUSE_MS, waiting * MS_PER_COMPLETION));
    }
    this.#running = undefined;
  }

  /** Waits, at most until `#wake`. */
  async #pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    this.#wake = resolve;
    await promise;
    clearTimeout(timer);
  }

  /** Returns false if the store accepts no completion. */
  async #recordBatch(): Promise<boolean> {
    try {
      if (this.#journaled.length > 0) await this.#readBack();
    } catch (error) {
      this.#options.logger.warn({ err: error }, "journaled completions waiting for the store");
      return false;
    }
    const batch = [...this.#pending.values().take(MAX_BATCH)].map(([first]) => first!);
    const waiting = await this.#write(batch);
    if (waiting === 0 || waiting < batch.length) return true;
    this.#options.logger.warn({ count: waiting }, "completions waiting for the store");
    return false;
  }

  /** Writes the first completions of calls; returns the number of those to retry. */
  async #write(batch: readonly Pending[]): Promise<number> {
    const results = await Promise.allSettled(
      batch.map(async ({ project, completion: { readInputs, ...others } }) =>
        this.#options.store.write(project, { ...others, inputs: readInputs() }),
      ),
    );
    const over: Pending[] = [];
    for (const [at, one] of batch.entries()) {
      const left = this.#leftOf(one, results[at]!);
      if (left === undefined) over.push(one);
      this.#requeue(one, left);
    }
    const stored = batch.filter((_one, at) => results[at]!.status === "fulfilled");
    this.#recorded += stored.length;
    const recovered = stored.flatMap(({ orphaned }) => orphaned ?? []);
    for (const kind of recovered) this.#recovered[kind]++;
    if (recovered.length > 0)
      this.#options.logger.warn(this.#recovered, "completions of a killed process recorded");
    this.#drop(over.length - stored.length, "rejected by the store");
    this.#end(over.map(({ name }) => name));
    return batch.length - over.length;
  }

  /** Returns what to retry of a completion; undefined: it is stored, or dropped. */
  #leftOf(one: Pending, result: PromiseSettledResult<void>): Pending | undefined {
    if (result.status === "fulfilled") return undefined;
    const nowMs = this.#options.clock.now();
    if (!isPermanentError(result.reason) || nowMs - one.queuedAtMs < MAX_REJECTED_MS) return one;
    // the inputs or output may be the cause
    return one.isBare ? undefined : bareOf({ ...one, queuedAtMs: nowMs });
  }

  /** Puts what is left of a call behind the others. */
  #requeue(one: Pending, left: Pending | undefined): void {
    const { callId } = one.completion;
    const [first, ...later] = this.#pending.get(callId) ?? [];
    // drained meanwhile
    if (first === undefined) return;
    this.#pending.delete(callId);
    const records = left === undefined ? later : [left, ...later];
    if (records.length > 0) this.#pending.set(callId, records);
    this.#pendingBytes += (left?.bytes ?? 0) - one.bytes;
  }

  /** Reads completions from the journal. Throws the store's errors. */
  async #readBack(): Promise<void> {
    const { maxPendingCalls, store, clock } = this.#options;
    const read: JournaledCompletion[] = [];
    let [count, bytes] = [0, 0];
    for (const name of this.#journaled) {
      if (this.#pending.size + read.length >= maxPendingCalls || bytes > MAX_READ_BYTES) break;
      const one = this.#journal.read(name);
      count++;
      bytes += one?.bytes ?? 0;
      if (one !== undefined) read.push(one);
    }
    // a completion that looks cut may be stored: the journal may have rejected its end
    const cut = read.flatMap(({ orphaned, project, completion: { callId } }) =>
      orphaned === "cut" ? [{ project, callId }] : [],
    );
    const stored = cut.length === 0 ? new Set<string>() : await store.findStored(cut);
    const left = read.filter(({ completion }) => !stored.has(completion.callId));
    for (const one of left) this.#add({ ...one, queuedAtMs: clock.now(), isBare: false });
    this.#drop(count - read.length, "the journal could not be read");
    const kept = new Set(left.map(({ name }) => name));
    this.#end(this.#journaled.splice(0, count).filter((name) => !kept.has(name)));
  }

  /** Forgets completions that are stored, or dropped. */
  #end(names: readonly string[]): void {
    this.#journal.remove(names);
    for (const name of names) {
      this.#onOver.get(name)?.();
      this.#onOver.delete(name);
      if (this.#orphans.delete(name) && this.#orphans.size === 0) this.#recovery.resolve();
    }
  }

  #drop(count: number, reason: string): void {
    this.#dropped += count;
    this.#dropLog.add(count, (unlogged) => this.#logDropped(unlogged, reason));
  }

  #logDropped(count: number, reason?: string): void {
    const facts = { reason, count, dropped: this.#dropped };
    this.#options.logger.error(facts, "completions dropped unrecorded");
  }
}

function bareOf(one: Omit<Pending, "isBare">): Pending {
  return { ...one, completion: withoutContent(one.completion), bytes: 0, isBare: true };
}
