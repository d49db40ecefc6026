import { StorageError } from "./storage-error.ts";

/** Options that all writers share. */
export interface GroupCommitSettings {
  /** How long the first item of a batch waits for others, in milliseconds. */
  readonly lingerMs: number;
  /** Writers are refused when more than this is waiting. */
  readonly maxPendingBytes: number;
  /** Called for every finished batch. */
  readonly onBatch?: (batch: BatchEvent) => void;
}

export interface BatchEvent {
  /** The writer's fixed name. */
  readonly name: string;
  readonly items: number;
  readonly bytes: number;
  /** From the arrival of its first item until it was durable, or refused. */
  readonly lagMs: number;
}

export interface GroupCommitOptions<Item> extends GroupCommitSettings {
  /** Readies a batch. Must be safe to repeat, and to leave without the batch ever being written. */
  readonly prepare?: (items: readonly Item[]) => Promise<void>;
  /**
   * With so many bytes waiting, a batch is readied while the one before it is being written. Smaller ones wait for it,
   * because a small batch has as many statements as a large one.
   */
  readonly minBytesBeside?: number;
  /** Writes one batch; resolves when it is durable. Must be safe to repeat. */
  readonly flush: (items: readonly Item[]) => Promise<void>;
  readonly sizeOf: (item: Item) => number;
  readonly maxBatchBytes: number;
  readonly name: string;
}

export interface GroupCommit<Item> {
  /** Resolves when the items are durable. Errors: `StorageError` of the flush, "overloaded" when too much waits. */
  write(items: readonly Item[]): Promise<void>;
  /** Does some work between two batches: none is being written meanwhile. */
  whileNoInsertRuns<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Resolves when nothing waits or is being written. */
  drain(): Promise<void>;
  pendingBytes(): number;
}

interface Waiter<Item> {
  readonly items: readonly Item[];
  readonly bytes: number;
  readonly arrivedMs: number;
  readonly finish: (error?: unknown) => void;
}

/**
 * Turns many small writes into few large ones: while one batch is being written, the next one gathers. One batch is
 * readied at a time and one is written, in the same order, so parts of a call that one client sends in order are stored
 * in order.
 */
export function createGroupCommit<Item>(options: GroupCommitOptions<Item>): GroupCommit<Item> {
  let waiting: Waiter<Item>[] = [];
  let waitingBytes = 0;
  let inFlightBytes = 0;
  let running: Promise<void> | undefined;
  let turns: (() => Promise<void>)[] = [];
  let writing: Promise<void> = Promise.resolve();
  const arrivals = new Arrivals();

  const pendingBytes = (): number => waitingBytes + inFlightBytes;

  const takeBatch = (): Waiter<Item>[] => {
    const count = countWithin(waiting, options.maxBatchBytes);
    const batch = waiting.slice(0, count);
    waiting = waiting.slice(count);
    const bytes = bytesOf(batch);
    waitingBytes -= bytes;
    inFlightBytes += bytes;
    return batch;
  };

  const flush = async (batch: readonly Waiter<Item>[], prepared: readonly Waiter<Item>[]): Promise<void> => {
    for (const waiter of await those(prepared, options.flush)) waiter.finish();
    options.onBatch?.(eventOf(options.name, batch));
    inFlightBytes -= bytesOf(batch);
  };

  /** Until a batch has been written, or the next one is large enough to be readied beside it. */
  const gathered = async (): Promise<void> => {
    const enough = options.prepare === undefined ? Number.POSITIVE_INFINITY : (options.minBytesBeside ?? 0);
    const mustWait = (): boolean => inFlightBytes > 0 && turns.length === 0 && waitingBytes < enough;
    while (mustWait()) await Promise.race([writing, arrivals.next]);
  };

  const run = async (): Promise<void> => {
    while (waiting.length > 0 || turns.length > 0) {
      if (turns.length > 0) {
        await writing;
        const taken = turns;
        turns = [];
        for (const turn of taken) await turn();
        continue;
      }
      await gathered();
      if (turns.length > 0) continue;
      if (waitingBytes < options.maxBatchBytes) await delay(options.lingerMs);
      const batch = takeBatch();
      const prepared = options.prepare === undefined ? batch : await those(batch, options.prepare);
      await writing;
      writing = flush(batch, prepared);
    }
    running = undefined;
  };

  return {
    async write(items) {
      if (items.length === 0) return;
      const bytes = items.reduce((sum, item) => sum + options.sizeOf(item), 0);
      if (pendingBytes() > 0 && pendingBytes() + bytes > options.maxPendingBytes) {
        throw new StorageError("overloaded", options.name, undefined, "too many bytes wait to be written");
      }
      const { waiter, finished } = waiterFor(items, bytes);
      waiting.push(waiter);
      waitingBytes += bytes;
      arrivals.announce();
      running ??= run();
      await finished;
    },
    whileNoInsertRuns<Result>(work: () => Promise<Result>) {
      const { promise, resolve, reject } = Promise.withResolvers<Result>();
      turns.push(() => work().then(resolve, reject));
      arrivals.announce();
      running ??= run();
      return promise;
    },
    async drain() {
      await running;
      await writing;
    },
    pendingBytes,
  };
}

function waiterFor<Item>(
  items: readonly Item[],
  bytes: number,
): { readonly waiter: Waiter<Item>; readonly finished: Promise<void> } {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const finish = (error?: unknown): void => (error === undefined ? resolve() : reject(error));
  return { waiter: { items, bytes, arrivedMs: performance.now(), finish }, finished: promise };
}

class Arrivals {
  #next = Promise.withResolvers<void>();

  /** Resolves with the next announcement. */
  get next(): Promise<void> {
    return this.#next.promise;
  }

  announce(): void {
    this.#next.resolve();
    this.#next = Promise.withResolvers();
  }
}

/** A batch that is over now. */
function eventOf(name: string, batch: readonly Waiter<unknown>[]): BatchEvent {
  return {
    name,
    items: batch.reduce((sum, waiter) => sum + waiter.items.length, 0),
    bytes: bytesOf(batch),
    lagMs: performance.now() - batch[0]!.arrivedMs,
  };
}

/** How many of the first stay within so many bytes; one at least. */
function countWithin(waiting: readonly Waiter<unknown>[], maxBytes: number): number {
  let bytes = 0;
  const over = waiting.findIndex((waiter, at) => (bytes += waiter.bytes) > maxBytes && at > 0);
  return over === -1 ? waiting.length : over;
}

function bytesOf(batch: readonly Waiter<unknown>[]): number {
  return batch.reduce((sum, waiter) => sum + waiter.bytes, 0);
}

/**
 * The writers whose items were accepted; the others are rejected with the reason. One writer's bad items must not fail the others: a batch that
 * the store refuses is tried writer by writer.
 */
async function those<Item>(
  batch: readonly Waiter<Item>[],
  work: (items: readonly Item[]) => Promise<void>,
): Promise<readonly Waiter<Item>[]> {
  if (batch.length === 0) return [];
  try {
    await work(batch.flatMap((waiter) => waiter.items));
    return batch;
  } catch (error) {
    const refused = error instanceof StorageError && error.kind === "statement";
    if (!refused || batch.length === 1) {
      for (const waiter of batch) waiter.finish(error);
      return [];
    }
    const taken: Waiter<Item>[] = [];
    for (const waiter of batch) taken.push(...(await those([waiter], work)));
    return taken;
  }
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
