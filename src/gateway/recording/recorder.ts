import type { FastifyBaseLogger } from "fastify";
import { isPermanentError } from "../../calls/write/is-permanent-error.ts";
import type { Journal } from "../../journal/journal.ts";
import type { Clock } from "../../shared/clock.ts";
import { AppError } from "../../shared/errors.ts";
import type { Project } from "../../shared/project.ts";
import { CompletionJournal, type JournaledCompletion } from "./completion-journal.ts";
import { DropCounter } from "./drop-counter.ts";
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
  /** Throws if the store is full. */
  readonly admit?: () => void;
  /** Undefined: unstored completions are lost with the process. */
  readonly journal: Journal | undefined;
  readonly clock: Clock;
  readonly logger: FastifyBaseLogger;
  /** Completions in memory; others are only in the journal. */
  readonly maxPendingCalls: number;
  readonly maxPendingBytes: number;
}

export interface RecorderCounts {
  /** Completions not yet stored. */
  readonly pending: number;
  readonly recorded: number;
  readonly dropped: number;
  /** Recorded completions of killed processes: finished, or cut by the kill. */
  readonly recovered: Readonly<Record<"finished" | "cut", number>>;
  /** Completions the journal rejected at their end. */
  readonly unjournaled: number;
}

/** Completion in memory. */
interface Pending {
  /** Key of its journal records. */
  readonly name: string;
  readonly project: Project;
  completion: EndedCompletion;
  /** Size of inputs and output. */
  readonly bytes: number;
  queuedAtMs: number;
  /** Inputs and output were dropped; counts remain. */
  isBare: boolean;
  /** Recovered from the journal of a killed process. */
  readonly orphaned: "finished" | "cut" | undefined;
}

const MAX_BATCH = 500;
/** A pause after each batch, so that a busy recorder writes few and large ones. */
const MS_PER_COMPLETION = 25;
const MAX_PAUSE_MS = 500;
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
  readonly #drops: DropCounter;
  readonly #pending = new Map<string, Pending>();
  #pendingBytes = 0;
  /** Names of completions that are only in the journal. */
  #journaled: string[];
  #recorded = 0;
  readonly #recovered = { finished: 0, cut: 0 };
  #orphans: number;
  #running: Promise<void> | undefined;
  #wake: () => void = () => undefined;
  #draining = false;

  /** Starts recording completions orphaned by a killed process. */
  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#drops = new DropCounter(options.logger);
    this.#journal = new CompletionJournal(options.journal);
    this.#journaled = this.#journal.orphaned();
    this.#orphans = this.#journaled.length;
    if (this.#orphans > 0) this.#running = this.#run();
  }

  /** Journals a sent completion; recorded in this form if the process is killed before its end. */
  start(name: string, project: Project, started: () => RecordedCompletion): void {
    this.#journal.start(name, project, started);
  }

  /** Call before the upstream is billed. Throws service_overloaded, or the store's error, if nothing more can be recorded. */
  admit(): void {
    this.#options.admit?.();
    if (this.#journal.isWritable || this.#pending.size < this.#options.maxPendingCalls) return;
    const wait = { retryAfterSeconds: 5 };
    throw new AppError("service_overloaded", "Too many completions are waiting to be recorded.", wait);
  }

  /**
   * Records a completion of about `bytes` bytes, or only its counts if there is no space. Resolves when it is in the journal:
   * then the end of the process does not lose it. Later records of a call replace earlier ones in the store, so they are written
   * in their order. A name is used once.
   */
  async record(name: string, project: Project, completion: EndedCompletion, bytes: number): Promise<void> {
    const { maxPendingCalls, maxPendingBytes, clock } = this.#options;
    const isWritten = await this.#journal.end(name, project, completion);
    const isFull = this.#pending.size >= maxPendingCalls || this.#pendingBytes + bytes > maxPendingBytes;
    // behind others in the journal, records keep their order
    if (isWritten && (isFull || this.#journaled.length > 0)) this.#journaled.push(name);
    else {
      const one = { name, project, queuedAtMs: clock.now(), orphaned: undefined };
      const isBare = isFull;
      this.#add({
        ...one,
        completion: isBare ? withoutContent(completion) : completion,
        bytes: isBare ? 0 : bytes,
        isBare,
      });
    }
    this.#start();
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
    const lost = [...this.#pending.keys()].filter((name) => !this.#journal.has(name));
    const kept = this.counts().pending - lost.length;
    this.#drops.add(lost.length, "not stored before shutdown");
    this.#drops.end();
    if (kept > 0)
      this.#options.logger.warn(
        { count: kept },
        "unstored completions kept in the journal for the next start",
      );
    this.#pending.clear();
    this.#journaled = [];
    this.#draining = false;
  }

  counts(): RecorderCounts {
    return {
      pending: this.#pending.size + this.#journaled.length,
      recorded: this.#recorded,
      dropped: this.#drops.total,
      recovered: this.#recovered,
      unjournaled: this.#journal.rejected,
    };
  }

  #add(one: Pending): void {
    this.#pendingBytes += one.bytes;
    this.#pending.set(one.name, one);
  }

  #start(): void {
    this.#running ??= this.#run();
    if (this.#pending.size >= MAX_BATCH) this.#wake();
  }

  async #run(): Promise<void> {
    let delayMs = MIN_RETRY_DELAY_MS;
    while (this.#pending.size + this.#journaled.length > 0) {
      const waiting = this.#pending.size;
      if (await this.#recordBatch()) {
        delayMs = MIN_RETRY_DELAY_MS;
        if (this.#pending.size < MAX_BATCH && this.#journaled.length === 0)
          await this.#pause(Math.min(MAX_PAUSE_MS, waiting * MS_PER_COMPLETION));
      } else {
        await this.#pause(this.#draining ? MIN_RETRY_DELAY_MS : delayMs);
        delayMs = Math.min(delayMs * 2, MAX_RETRY_DELAY_MS);
      }
    }
    this.#running = undefined;
  }

  /** Waits, at most until `#wake`. While draining, only retries wait. */
  async #pause(ms: number): Promise<void> {
    if (this.#draining && ms !== MIN_RETRY_DELAY_MS) return;
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
    const batch = batchOf(this.#pending.values());
    const waiting = await this.#write(batch);
    if (waiting === 0 || waiting < batch.length) return true;
    this.#options.logger.warn({ count: waiting }, "completions waiting for the store");
    return false;
  }

  /** Returns the number of completions to retry. */
  async #write(batch: readonly Pending[]): Promise<number> {
    const results = await Promise.allSettled(
      batch.map(async ({ project, completion: { readInputs, ...others } }) =>
        this.#options.store.write(project, { ...others, inputs: readInputs() }),
      ),
    );
    const over = batch.filter((one, at) => this.#isOver(one, results[at]!));
    const stored = batch.filter((_one, at) => results[at]!.status === "fulfilled");
    this.#recorded += stored.length;
    for (const { orphaned } of stored) if (orphaned !== undefined) this.#recovered[orphaned]++;
    this.#drops.add(over.length - stored.length, "rejected by the store");
    this.#remove(over);
    if (over.length < batch.length) this.#moveBehind(batch.filter((one) => !over.includes(one)));
    return batch.length - over.length;
  }

  /** False for a completion to retry. */
  #isOver(one: Pending, result: PromiseSettledResult<void>): boolean {
    if (result.status === "fulfilled") return true;
    if (!isPermanentError(result.reason)) return false;
    if (this.#options.clock.now() - one.queuedAtMs >= MAX_REJECTED_MS) {
      if (one.isBare) return true;
      // the inputs or output may be the cause
      Object.assign(one, { completion: withoutContent(one.completion), isBare: true });
      one.queuedAtMs = this.#options.clock.now();
    }
    return false;
  }

  /** Puts all records of the calls of `waiting` behind the others, in their order. */
  #moveBehind(waiting: readonly Pending[]): void {
    const calls = new Set(waiting.map(({ completion }) => completion.callId));
    const moved = [...this.#pending.values()].filter(({ completion }) => calls.has(completion.callId));
    for (const one of moved) {
      this.#pending.delete(one.name);
      this.#pending.set(one.name, one);
    }
  }

  #remove(over: readonly Pending[]): void {
    for (const { name, bytes } of over) {
      this.#pending.delete(name);
      this.#pendingBytes -= bytes;
    }
    this.#forgetOrphans(over.filter(({ orphaned }) => orphaned !== undefined).length);
    this.#journal.remove(over.map(({ name }) => name));
  }

  /** Reads completions from the journal. Throws the store's errors. */
  async #readBack(): Promise<void> {
    const { maxPendingCalls } = this.#options;
    const read: JournaledCompletion[] = [];
    let count = 0;
    let bytes = 0;
    for (const name of this.#journaled) {
      if (this.#pending.size + read.length >= maxPendingCalls || bytes > MAX_READ_BYTES) break;
      const one = this.#journal.read(name);
      count++;
      bytes += one?.bytes ?? 0;
      if (one !== undefined) read.push(one);
    }
    // a completion that looks cut may be stored: the journal may have rejected its end
    const cut = read
      .filter(({ isCut }) => isCut)
      .map(({ project, completion }) => ({ project, ...completion }));
    const stored = cut.length === 0 ? new Set<string>() : await this.#options.store.findStored(cut);
    for (const { name, project, completion, bytes: size, isCut, isOrphaned } of read) {
      if (stored.has(completion.callId)) continue;
      const orphaned = isOrphaned ? (isCut ? "cut" : "finished") : undefined;
      const { inputs, ...others } = completion;
      const ended = { ...others, readInputs: () => inputs };
      const queuedAtMs = this.#options.clock.now();
      this.#add({ name, project, completion: ended, bytes: size, queuedAtMs, isBare: false, orphaned });
    }
    this.#drops.add(count - read.length, "the journal could not be read");
    const gone = this.#journaled.splice(0, count).filter((name) => !this.#pending.has(name));
    this.#forgetOrphans(Math.min(gone.length, this.#orphans));
    this.#journal.remove(gone);
  }

  #forgetOrphans(count: number): void {
    if (count === 0 || this.#orphans === 0) return;
    this.#orphans -= count;
    if (this.#orphans <= 0)
      this.#options.logger.warn(this.#recovered, "completions of a killed process recorded");
  }
}

/** The next completions to write: the first of each call, because the store keeps what is written last. */
function batchOf(pending: Iterable<Pending>): Pending[] {
  const batch = new Map<string, Pending>();
  for (const one of pending) {
    const { callId } = one.completion;
    if (!batch.has(callId)) batch.set(callId, one);
    if (batch.size === MAX_BATCH) break;
  }
  return [...batch.values()];
}
