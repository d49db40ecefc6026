import type { FastifyBaseLogger } from "fastify";
import { isPermanentError } from "../../calls/write/is-permanent-error.ts";
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

/** Store of recorded completions. */
export interface CompletionStore {
  /** Resolves when the completion is durable. Must be idempotent. Throws `StorageError`. */
  write(project: Project, completion: RecordedCompletion): Promise<void>;
  /** Returns the ids of the stored calls among `calls`. */
  findStored(calls: readonly { project: Project; callId: string }[]): Promise<ReadonlySet<string>>;
}

export interface RecorderOptions extends PendingLimits {
  readonly store: CompletionStore;
  /** Throws if the store is full. */
  readonly admit?: () => void;
  /** Undefined: unstored completions are lost with the process. */
  readonly journal: Journal | undefined;
  readonly clock: Clock;
  readonly logger: FastifyBaseLogger;
}

export interface RecorderCounts {
  /** Completions not yet stored. */
  readonly pending: number;
  readonly recorded: number;
  readonly dropped: number;
  /** Recorded completions of killed processes: finished, or cut by the kill. */
  readonly recovered: Readonly<Record<NonNullable<Pending["orphaned"]>, number>>;
  /** Completions the journal rejected at their end. */
  readonly unjournaled: number;
}

const MAX_BATCH = 200;
/** Limit of completions read back from the journal at once. */
const MAX_READ_BYTES = 16 * 1024 * 1024;
const MAX_RETRY_DELAY_MS = 5000;
/** Minimum interval between partial batches. A batch costs the store about the same for one completion as for many. */
const BATCH_INTERVAL_MS = 100;
/** Time for the replica that created a response to store its call, before another replica records the response. */
const MAKER_MS = 3000;
const RECENT_MS = 60_000;
/**
 * A completion is dropped after the store has rejected it, and then its counts alone, for this long. Outages do not count.
 */
const MAX_REJECTED_MS = 15 * 60_000;

/**
 * Records completions without making the relay wait for the store. A completion is in the journal and in a queue, or only
 * in the journal while the queue is full. If neither has capacity, inputs and output are dropped: counts of relayed
 * completions are always accepted, and `admit` rejects new requests before there are too many.
 */
export class Recorder {
  readonly #options: RecorderOptions;
  readonly #journal: CompletionJournal;
  readonly #openReads = new OpenReads((error) => this.#drops.add(1, "the response could not be read", error));
  readonly #pause = new Pause();
  /** Record ids from a killed process, not yet stored. */
  readonly #orphans: Set<string>;
  /** Record ids that are only in the journal. */
  #journaled: string[];
  #pending: PendingCompletions;
  #recorded = 0;
  readonly #drops: DropCounter;
  readonly #recovered = { finished: 0, cut: 0 };
  #running: Promise<void> | undefined;
  #draining = false;

  /** Starts recording completions orphaned by a killed process. */
  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#drops = new DropCounter(options.logger);
    this.#pending = new PendingCompletions(options);
    this.#journal = new CompletionJournal(options.journal);
    this.#journaled = this.#journal.orphaned();
    this.#orphans = new Set(this.#journaled);
    if (this.#orphans.size > 0) this.#running = this.#run();
  }

  /** Journals a sent completion; recorded in this form if the process is killed before its end. */
  start(project: Project, started: () => RecordedCompletion): void {
    try {
      this.#journal.start(project, started);
    } catch (error) {
      this.#options.logger.error({ err: error }, "completion start not journaled");
    }
  }

  /**
   * Call before the upstream is billed. Throws service_overloaded, or the store's error, if another completion could not be
   * recorded.
   */
  admit(tenant: Tenant): void {
    this.#options.admit?.();
    if (this.#journal.isWritable || this.#pending.hasCapacity(tenant)) return;
    const wait = { retryAfterSeconds: 5 };
    throw new AppError("service_overloaded", "Too many completions are waiting to be recorded.", wait);
  }

  /**
   * Queues a completion of about `bytes` bytes, or only its counts if capacity is short. After it returns, the end of the
   * process does not lose the completion.
   */
  record(project: Project, completion: EndedCompletion, bytes: number): void {
    const isJournaled = this.#journal.end(project, completion);
    const one = { project, completion, bytes, queuedAtMs: this.#options.clock.now(), orphaned: undefined };
    const isHeld = mayBeUnstored(completion) && !this.#draining;
    const isPending = this.#pending.tryAdd(one, isHeld);
    if (isPending && isHeld) setTimeout(() => this.#release([one]), MAKER_MS).unref();
    if (!isPending && isJournaled) this.#journaled.push(recordIdOf(completion));
    else if (!isPending) {
      const counts = withoutContent(completion);
      this.#pending.add({ ...one, completion: counts, bytes: 0, isBare: true });
    }
    this.#wake();
  }

  /** Tracks an ended completion whose response is still being decompressed; `drain` waits for it. */
  expect(reading: Promise<void>): void {
    this.#openReads.add(reading);
  }

  /**
   * Resolves when all completions are durable. After `timeoutMs`, the rest stays in the journal; completions missing there
   * are dropped.
   */
  async drain(timeoutMs: number): Promise<void> {
    this.#draining = true;
    this.#release(this.#pending.all());
    this.#pause.end();
    const deadline = Promise.withResolvers<void>();
    const timer = setTimeout(deadline.resolve, timeoutMs);
    await Promise.race([this.#openReads.over().then(() => this.#running), deadline.promise]);
    clearTimeout(timer);
    const lost = this.#pending.all().filter((one) => !this.#journal.has(recordIdOf(one.completion)));
    const kept = this.counts().pending - lost.length;
    this.#drops.add(lost.length, "not stored before shutdown");
    this.#drops.end();
    if (kept > 0)
      this.#options.logger.warn(
        { count: kept },
        "unstored completions kept in the journal for the next start",
      );
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
      unjournaled: this.#journal.rejected,
    };
  }

  #release(held: readonly Pending[]): void {
    this.#pending.release(held);
    this.#wake();
  }

  #wake(): void {
    if (this.#pending.waiting + this.#journaled.length > 0) this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    let delayMs = 100;
    while (this.#pending.waiting + this.#journaled.length > 0) {
      const begunMs = performance.now();
      if (!(await this.#recordBatch())) {
        await this.#pause.wait(this.#draining ? 100 : delayMs);
        delayMs = Math.min(delayMs * 2, MAX_RETRY_DELAY_MS);
        continue;
      }
      delayMs = 100;
      const restMs = begunMs + BATCH_INTERVAL_MS - performance.now();
      const isMore = this.#pending.waiting >= MAX_BATCH || this.#journaled.length > 0;
      if (restMs > 0 && !isMore && !this.#draining) await this.#pause.wait(restMs);
    }
    this.#running = undefined;
  }

  /** Returns false if the store accepts no completion. */
  async #recordBatch(): Promise<boolean> {
    try {
      if (this.#journaled.length > 0) await this.#readBack();
    } catch (error) {
      this.#options.logger.warn({ err: error }, "journaled completions waiting for the store");
      return false;
    }
    const pending = this.#pending;
    const batch = pending.take(MAX_BATCH);
    const waiting = await this.#write(batch);
    pending.putBack(batch, waiting);
    if (waiting.length === 0 || waiting.length < batch.length) return true;
    this.#options.logger.warn({ count: waiting.length }, "completions waiting for the store");
    return false;
  }

  /** Returns the completions to retry. */
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
      const isOld = clock.now() - one.queuedAtMs >= MAX_REJECTED_MS;
      if (!isOld || !isPermanentError(result.reason)) return true;
      // the inputs or output may be the cause
      if (one.isBare) return false;
      [one.completion, one.isBare] = [withoutContent(one.completion), true];
      one.queuedAtMs = clock.now();
      return true;
    });
    const over = batch.filter((one) => !waiting.includes(one));
    this.#recorded += batch.length - failed.length;
    for (const { orphaned } of over.filter((one) => !failed.includes(one))) {
      if (orphaned !== undefined) this.#recovered[orphaned]++;
    }
    this.#drops.add(failed.length - waiting.length, "rejected by the store");
    this.#forget(over.map(({ completion }) => recordIdOf(completion)));
    return waiting;
  }

  /** Fills the queue from the journal. Throws the store's errors. */
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
    // a completion that looks cut may be stored: the journal may have rejected its end
    const cut = read.filter(({ isCut }) => isCut);
    const stored = cut.length === 0 ? new Set<string>() : await this.#options.store.findStored(cut);
    const queued = read.filter(({ callId }) => !stored.has(callId));
    for (const { project, completion, bytes: size, isCut, isOrphaned } of queued) {
      const orphaned = isOrphaned ? (isCut ? "cut" : "finished") : undefined;
      const { inputs, ...others } = completion;
      const ended = { ...others, readInputs: () => inputs };
      const queuedAtMs = this.#options.clock.now();
      this.#pending.add({ project, completion: ended, bytes: size, queuedAtMs, orphaned });
    }
    this.#drops.add(count - read.length, "the journal could not be read");
    const ids = new Set(queued.map(({ completion }) => recordIdOf(completion)));
    this.#forget(this.#journaled.splice(0, count).filter((callId) => !ids.has(callId)));
  }

  /** Removes stored and dropped completions from the journal. */
  #forget(callIds: readonly string[]): void {
    this.#journal.remove(callIds);
    const wereOrphans = callIds.filter((callId) => this.#orphans.delete(callId));
    if (wereOrphans.length > 0 && this.#orphans.size === 0) {
      this.#options.logger.warn(this.#recovered, "completions of a killed process recorded");
    }
  }
}

/** True for a recent response that another replica may have created, and not yet stored. */
function mayBeUnstored({ response, startedAtMs, endedAtMs }: EndedCompletion): boolean {
  return response?.sighting === "unknown" && (endedAtMs ?? startedAtMs) - startedAtMs < RECENT_MS;
}

/** Pause between two batches, which a drain ends early. */
class Pause {
  #end: (() => void) | undefined;

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#end = resolve;
      setTimeout(resolve, ms);
    });
  }

  end(): void {
    this.#end?.();
  }
}

/** Responses still being decompressed. */
class OpenReads {
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
