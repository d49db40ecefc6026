import type { FastifyBaseLogger } from "fastify";
import type { Clock } from "../../shared/clock.ts";
import type { Project } from "../../shared/project.ts";

/** One completion that went through the gateway. Instants in milliseconds since the epoch. */
export interface RecordedCompletion {
  readonly callId: string;
  readonly traceId: string;
  readonly parentId: string | null;
  /** The id of the key that asked for it. */
  readonly apiKey: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly inputs: unknown;
  readonly output: unknown;
  readonly attributes: { readonly sumtree: CompletionMarks };
  readonly summary: { readonly usage: Readonly<Record<string, Readonly<Record<string, unknown>>>> };
  readonly exception: string | null;
}

export interface CompletionMarks {
  readonly source: "gateway";
  readonly stream: boolean;
  readonly outcome: "finished" | "aborted" | "client_stalled" | "upstream_cut" | "error";
  /** "exact": the provider's count; "partial": its count of a part; "estimated": ours, from the text; "none". */
  readonly usage: "exact" | "partial" | "estimated" | "none";
  readonly upstream: string;
  readonly status: number | null;
  readonly first_byte_ms: number | null;
  readonly request_id: string;
}

/** The destination of recorded completions: the same writer as for every other call. */
export interface CompletionStore {
  /** Resolves when the completion is durable. Must be safe to repeat. */
  write(project: Project, completion: RecordedCompletion): Promise<void>;
}

export interface RecorderOptions {
  readonly store: CompletionStore;
  readonly clock: Clock;
  readonly logger: FastifyBaseLogger;
  readonly maxPendingCalls: number;
  readonly maxPendingBytes: number;
}

/** Records completions without ever making the relay wait. */
export interface Recorder {
  /** Queues a completion of about `bytes` bytes. If the queue is full, it drops and counts the completion. */
  record(project: Project, completion: RecordedCompletion, bytes: number): void;
  /** Tracks a completion that has ended but is still being read: a stop waits for it. */
  expect(reading: Promise<void>): void;
  /** Resolves when all queued completions are durable. After `timeoutMs`, it drops and counts the rest. */
  drain(timeoutMs: number): Promise<void>;
  counts(): { readonly pending: number; readonly recorded: number; readonly dropped: number };
}

interface Pending {
  readonly project: Project;
  readonly completion: RecordedCompletion;
  readonly bytes: number;
  readonly queuedAtMs: number;
}

const MAX_BATCH = 200;
const MAX_RETRY_DELAY_MS = 5000;
/** From the start of one batch to the next that is not full. A batch costs the store about as much with one completion. */
const BATCH_INTERVAL_MS = 100;
/** A completion that the store has rejected for this long is dropped. */
const MAX_AGE_MS = 15 * 60_000;
const DROP_LOG_INTERVAL_MS = 10_000;

export function createRecorder(options: RecorderOptions): Recorder {
  const { store, clock, logger } = options;
  const readings = new Readings((error) => drop(1, "it could not be read", error));
  let queue: Pending[] = [];
  let inFlight = 0;
  let bytes = 0;
  let recorded = 0;
  let dropped = 0;
  let running: Promise<void> | undefined;
  const rest = new Rest();
  let draining = false;
  let nextDropLogMs = 0;

  const drop = (count: number, reason: string, err?: unknown): void => {
    if (count === 0) return;
    dropped += count;
    if (clock.now() < nextDropLogMs) return;
    nextDropLogMs = clock.now() + DROP_LOG_INTERVAL_MS;
    logger.error({ dropped, reason, err }, "completions were not recorded");
  };

  const writeBatch = async (batch: readonly Pending[]): Promise<Pending[]> => {
    const results = await Promise.allSettled(
      batch.map(async (one) => store.write(one.project, one.completion)),
    );
    const failed = batch.filter((_, index) => results[index]?.status === "rejected");
    recorded += batch.length - failed.length;
    const retried = failed.filter((one) => clock.now() - one.queuedAtMs < MAX_AGE_MS);
    drop(failed.length - retried.length, "refused by the store");
    const gone = batch.filter((one) => !retried.includes(one));
    bytes -= gone.reduce((sum, one) => sum + one.bytes, 0);
    return retried;
  };

  const run = async (): Promise<void> => {
    let delayMs = 100;
    while (queue.length > 0) {
      const begunMs = performance.now();
      const batch = queue.slice(0, MAX_BATCH);
      queue = queue.slice(MAX_BATCH);
      inFlight = batch.length;
      const retried = await writeBatch(batch);
      inFlight = 0;
      queue = [...retried, ...queue];
      if (retried.length > 0) {
        logger.warn({ count: retried.length }, "completions wait for the store");
        await rest.take(draining ? 100 : delayMs);
        delayMs = Math.min(delayMs * 2, MAX_RETRY_DELAY_MS);
        continue;
      }
      delayMs = 100;
      const restMs = begunMs + BATCH_INTERVAL_MS - performance.now();
      if (restMs > 0 && queue.length < MAX_BATCH && !draining) await rest.take(restMs);
    }
    running = undefined;
  };

  return {
    record(project, completion, size) {
      const full =
        queue.length + inFlight >= options.maxPendingCalls || bytes + size > options.maxPendingBytes;
      if (full) return drop(1, "the queue is full");
      queue.push({ project, completion, bytes: size, queuedAtMs: clock.now() });
      bytes += size;
      running ??= run();
    },
    expect: (reading) => readings.add(reading),
    async drain(timeoutMs) {
      draining = true;
      // completions that have ended arrive one turn later
      await new Promise((resolve) => setImmediate(resolve));
      rest.end();
      const deadline = Promise.withResolvers<void>();
      const timer = setTimeout(deadline.resolve, timeoutMs);
      await Promise.race([readings.over().then(() => running), deadline.promise]);
      clearTimeout(timer);
      drop(queue.length + inFlight, "the store did not take them before the end");
      queue = [];
      draining = false;
    },
    counts: () => ({ pending: queue.length + inFlight, recorded, dropped }),
  };
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
    const settled = reading.catch(this.#onFailure).finally(() => this.#open.delete(settled));
    this.#open.add(settled);
  }

  async over(): Promise<void> {
    await Promise.all(this.#open);
  }
}
