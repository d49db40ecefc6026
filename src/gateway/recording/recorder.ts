import type { FastifyBaseLogger } from "fastify";
import { isRefusal } from "../../calls/write/is-refusal.ts";
import type { Journal } from "../../journal/journal.ts";
import type { Clock } from "../../shared/clock.ts";
import { AppError } from "../../shared/errors.ts";
import type { Project } from "../../shared/project.ts";
import type { Tenant } from "../../fairness/tenant.ts";
import { CompletionJournal, type JournaledCompletion } from "./completion-journal.ts";
import { DropCounter } from "./drop-counter.ts";
import { PendingCompletions, type Pending, type PendingLimits } from "./pending-completions.ts";
import {
  recordIdOf,
  withoutContent,
  type EndedCompletion,
  type RecordedCompletion,
} from "./recorded-completion.ts";

/** The destination of recorded completions: the same writer as for every other call. */
export interface CompletionStore {
  /** Resolves when the completion is durable. Must be safe to repeat. Errors: `StorageError`. */
  write(project: Project, completion: RecordedCompletion): Promise<void>;
  /** The ids of those calls that are stored. */
  findStored(calls: readonly { project: Project; callId: string }[]): Promise<ReadonlySet<string>>;
}

export interface RecorderOptions extends PendingLimits {
  readonly store: CompletionStore;
  /** Throws if the store has no room for more. */
  readonly admit?: () => void;
  /** Undefined: what is not stored is lost with the process. */
  readonly journal: Journal | undefined;
  readonly clock: Clock;
  readonly logger: FastifyBaseLogger;
}

export interface RecorderCounts {
  /** Completions that are not stored yet. */
  readonly pending: number;
  readonly recorded: number;
  readonly dropped: number;
  /** Of the recorded ones, those that a killed process had left: after their end, or cut by it. */
  readonly recovered: Readonly<Record<Left, number>>;
  /** Completions that the journal did not take when they ended. */
  readonly unjournaled: number;
}

type Left = NonNullable<Pending["left"]>;

const MAX_BATCH = 200;
/** Of completions that are read back from the journal at once. */
const MAX_READ_BYTES = 16 * 1024 * 1024;
const MAX_RETRY_DELAY_MS = 5000;
/** From the start of one batch to the next that is not full. A batch costs the store about as much with one completion. */
const BATCH_INTERVAL_MS = 100;
/** A completion that the store itself refuses for this long, and then its counts, is given up; for a store that is away all wait. */
const MAX_REFUSED_MS = 15 * 60_000;

/**
 * Records completions without ever making the relay wait for the store. A completion is in the journal and in a queue, or
 * in the journal alone while the queue is full. Where neither has room for it, what was asked and said gives way: the
 * counts of what has been relayed are always taken, and `admit` says no before there could be too many.
 */
export class Recorder {
  readonly #options: RecorderOptions;
  readonly #journal: CompletionJournal;
  readonly #readings = new Readings((error) => this.#drops.add(1, "it could not be read", error));
  readonly #rest = new Rest();
  /** The ids of completions that a killed process has left, and that are not stored yet. */
  readonly #left: Set<string>;
  /** The ids of those that are in the journal alone. */
  #journaled: string[];
  #pending: PendingCompletions;
  #recorded = 0;
  readonly #drops: DropCounter;
  readonly #recovered = { finished: 0, cut: 0 };
  #running: Promise<void> | undefined;
  #draining = false;

  /** Begins to record what a killed process has left. */
  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#drops = new DropCounter(options.logger);
    this.#pending = new PendingCompletions(options);
    this.#journal = new CompletionJournal(options.journal);
    this.#journaled = this.#journal.left();
    this.#left = new Set(this.#journaled);
    if (this.#left.size > 0) this.#running = this.#run();
  }

  /** Notes a completion that has been sent: if the process is killed before its end, it is recorded as it is given here. */
  start(project: Project, started: () => RecordedCompletion): void {
    try {
      this.#journal.start(project, started);
    } catch (error) {
      this.#options.logger.error({ err: error }, "the start of a completion could not be journaled");
    }
  }

  /** To be called before a completion is paid for. Errors: service_overloaded or the store's, if nothing more could be recorded. */
  admit(tenant: Tenant): void {
    this.#options.admit?.();
    if (this.#journal.takes || this.#pending.hasPlace(tenant)) return;
    const wait = { retryAfterSeconds: 5 };
    throw new AppError("service_overloaded", "Too many completions wait to be recorded.", wait);
  }

  /**
   * Queues a completion of about `bytes` bytes; without room for what was asked and said, its counts alone. When it
   * returns, the end of the process does not lose it.
   */
  record(project: Project, completion: EndedCompletion, bytes: number): void {
    const isJournaled = this.#journal.end(project, completion);
    const one = { project, completion, bytes, queuedAtMs: this.#options.clock.now(), left: undefined };
    const isPending = this.#pending.tryAdd(one);
    if (!isPending && isJournaled) this.#journaled.push(recordIdOf(completion));
    else if (!isPending) {
      const counts = withoutContent(completion);
      this.#pending.add({ ...one, completion: counts, bytes: 0, isBare: true });
    }
    this.#running ??= this.#run();
  }

  /** Tracks a completion that has ended but is still being read: a stop waits for it. */
  expect(reading: Promise<void>): void {
    this.#readings.add(reading);
  }

  /** Resolves when all completions are durable. After `timeoutMs`, the journal keeps the rest; what it lacks is dropped. */
  async drain(timeoutMs: number): Promise<void> {
    this.#draining = true;
    this.#rest.end();
    const deadline = Promise.withResolvers<void>();
    const timer = setTimeout(deadline.resolve, timeoutMs);
    await Promise.race([this.#readings.over().then(() => this.#running), deadline.promise]);
    clearTimeout(timer);
    const lost = this.#pending.all().filter((one) => !this.#journal.has(recordIdOf(one.completion)));
    const kept = this.counts().pending - lost.length;
    this.#drops.add(lost.length, "the store did not take them before the end");
    this.#drops.end();
    if (kept > 0)
      this.#options.logger.warn({ count: kept }, "completions are left in the journal to the next start");
    this.#pending = new PendingCompletions(this.#options);
    this.#journaled = [];
    this.#draining = false;
  }

  counts(): RecorderCounts {
    return {
      pending: this.#pending.size + this.#journaled.length,
      recorded: this.#recorded,
      dropped: this.#drops.total,
      recovered: this.#recovered,
      unjournaled: this.#journal.missed,
    };
  }

  async #run(): Promise<void> {
    let delayMs = 100;
    while (this.#pending.waiting + this.#journaled.length > 0) {
      const begunMs = performance.now();
      if (!(await this.#recordBatch())) {
        await this.#rest.take(this.#draining ? 100 : delayMs);
        delayMs = Math.min(delayMs * 2, MAX_RETRY_DELAY_MS);
        continue;
      }
      delayMs = 100;
      const restMs = begunMs + BATCH_INTERVAL_MS - performance.now();
      const isMore = this.#pending.waiting >= MAX_BATCH || this.#journaled.length > 0;
      if (restMs > 0 && !isMore && !this.#draining) await this.#rest.take(restMs);
    }
    this.#running = undefined;
  }

  /** False: the store takes none. */
  async #recordBatch(): Promise<boolean> {
    try {
      if (this.#journaled.length > 0) await this.#readBack();
    } catch (error) {
      this.#options.logger.warn({ err: error }, "completions in the journal wait for the store");
      return false;
    }
    const pending = this.#pending;
    const batch = pending.take(MAX_BATCH);
    const waiting = await this.#write(batch);
    pending.putBack(batch, waiting);
    if (waiting.length === 0 || waiting.length < batch.length) return true;
    this.#options.logger.warn({ count: waiting.length }, "completions wait for the store");
    return false;
  }

  /** Returns those that are to be written again. */
  async #write(batch: readonly Pending[]): Promise<readonly Pending[]> {
    const { store, clock } = this.#options;
    const results = await Promise.allSettled(
      batch.map(async ({ project, completion: { readInputs, ...others } }) =>
        store.write(project, { ...others, inputs: readInputs() }),
      ),
    );
    const failed = batch.filter((_, index) => results[index]?.status === "rejected");
    const waiting = batch.filter((one, index) => {
      const result = results[index]!;
      if (result.status === "fulfilled") return false;
      const isOld = clock.now() - one.queuedAtMs >= MAX_REFUSED_MS;
      if (!isOld || !isRefusal(result.reason)) return true;
      // it may be for what was asked and said
      if (one.isBare) return false;
      [one.completion, one.isBare] = [withoutContent(one.completion), true];
      one.queuedAtMs = clock.now();
      return true;
    });
    const over = batch.filter((one) => !waiting.includes(one));
    this.#recorded += batch.length - failed.length;
    for (const { left } of over.filter((one) => !failed.includes(one))) {
      if (left !== undefined) this.#recovered[left]++;
    }
    this.#drops.add(failed.length - waiting.length, "refused by the store");
    this.#forget(over.map(({ completion }) => recordIdOf(completion)));
    return waiting;
  }

  /** Fills the queue from the journal. Errors: the store's. */
  async #readBack(): Promise<void> {
    const read: JournaledCompletion[] = [];
    let count = 0;
    let bytes = 0;
    for (const callId of this.#journaled) {
      if (this.#pending.waiting + read.length >= MAX_BATCH || bytes > MAX_READ_BYTES) break;
      const one = this.#journal.read(callId);
      count++;
      bytes += one?.bytes ?? 0;
      if (one !== undefined) read.push(one);
    }
    // the end of one that seems cut may have been stored, though the journal could not take it
    const cut = read.filter(({ isCut }) => isCut);
    const stored = cut.length === 0 ? new Set<string>() : await this.#options.store.findStored(cut);
    const queued = read.filter(({ callId }) => !stored.has(callId));
    for (const { project, completion, bytes: size, isCut, isLeft } of queued) {
      const left = isLeft ? (isCut ? "cut" : "finished") : undefined;
      const { inputs, ...others } = completion;
      const ended = { ...others, readInputs: () => inputs };
      const queuedAtMs = this.#options.clock.now();
      this.#pending.add({ project, completion: ended, bytes: size, queuedAtMs, left });
    }
    this.#drops.add(count - read.length, "the journal could not be read");
    const ids = new Set(queued.map(({ completion }) => recordIdOf(completion)));
    this.#forget(this.#journaled.splice(0, count).filter((callId) => !ids.has(callId)));
  }

  /** They are stored, or given up. */
  #forget(callIds: readonly string[]): void {
    this.#journal.remove(callIds);
    const wasLeft = callIds.filter((callId) => this.#left.delete(callId));
    if (wasLeft.length > 0 && this.#left.size === 0) {
      this.#options.logger.warn(
        this.#recovered,
        "the completions that a killed process had left are recorded",
      );
    }
  }
}

/** A pause between two batches, which a drain ends early. */
class Rest {
  #end: (() => void) | undefined;

  take(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#end = resolve;
      setTimeout(resolve, ms);
    });
  }

  end(): void {
    this.#end?.();
  }
}

/** Completions that are still being read. */
class Readings {
  readonly #open = new Set<Promise<void>>();
  readonly #onFailure: (error: unknown) => void;

  constructor(onFailure: (error: unknown) => void) {
    this.#onFailure = onFailure;
  }

  add(reading: Promise<void>): void {
    const ended = reading.catch(this.#onFailure).finally(() => this.#open.delete(ended));
    this.#open.add(ended);
  }

  async over(): Promise<void> {
    await Promise.all(this.#open);
  }
}
