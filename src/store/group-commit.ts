import { setTimeout as delay } from "node:timers/promises";
import type { FairSemaphore } from "../fairness/fair-semaphore.ts";
import { runAsTenant, currentTenant, SYSTEM_TENANT } from "../fairness/tenant.ts";
import { StorageError } from "./storage-error.ts";
import { WriteQueue } from "./write-queue.ts";
import { bytesOf, PendingWrite, type WriteChunk } from "./write-chunks.ts";

/** Options that all writers share. */
export interface GroupCommitSettings {
  /** How long the first item of a batch waits for others, in milliseconds. */
  readonly lingerMs: number;
  /** The bytes that wait, of all writers that are given it. */
  readonly pending: FairSemaphore;
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
  /** Readies a batch, step by step. Each must be safe to repeat, and to leave without the batch ever being written. */
  readonly prepare?: readonly ((items: readonly Item[]) => Promise<void>)[];
  /** Where an item goes, as far as that is known: a step of `prepare` can find it. Default: all go to one place. */
  readonly keyOf?: (item: Item) => number | undefined;
  /** A batch that would go to more places is written in pieces, between which others have their turn. */
  readonly maxKeys?: number;
  /**
   * With so many bytes waiting, a batch is readied while the one before it is being written. Smaller ones wait for it,
   * because a small batch has as many statements as a large one.
   */
  readonly minPipelinedBytes?: number;
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

/**
 * Turns many small writes into few large ones: while one batch is being written, the next one gathers. One batch is
 * readied at a time and one is written. Of what waits, projects have their turns, and of a project its keys; what comes by
 * one key is stored in the order in which it came, so parts of a call that one client sends in order are stored in order.
 */
export function createGroupCommit<Item>(options: GroupCommitOptions<Item>): GroupCommit<Item> {
  const { pending, keyOf: placeOf = () => 0, maxKeys: maxPlaces = 1, prepare = [] } = options;
  const queue = new WriteQueue<Item>({ ...options, placeOf, maxPlaces });
  let inFlightBytes = 0;
  let running: Promise<void> | undefined;
  let exclusiveTasks: (() => Promise<void>)[] = [];
  let writing: Promise<void> = Promise.resolve();
  const arrivals = new Arrivals();

  const flush = async ({ left, failed }: PreparedBatch<Item>): Promise<void> => {
    for (const chunk of await commitOrSplit(left, options.flush)) chunk.write.finish(chunk);
    const batch = [...left, ...failed];
    if (batch.length > 0) options.onBatch?.(eventOf(options.name, batch));
    inFlightBytes -= bytesOf(batch);
  };

  /** Until a batch has been written, or the next one is large enough to be readied beside it. */
  const gathered = async (): Promise<void> => {
    const enough = prepare.length === 0 ? Number.POSITIVE_INFINITY : (options.minPipelinedBytes ?? 0);
    const mustWait = (): boolean => inFlightBytes > 0 && exclusiveTasks.length === 0 && queue.bytes < enough;
    while (mustWait()) await Promise.race([writing, arrivals.next]);
  };

  const run = async (): Promise<void> => {
    while (queue.size > 0 || exclusiveTasks.length > 0) {
      if (exclusiveTasks.length > 0) {
        await writing;
        const all = exclusiveTasks;
        exclusiveTasks = [];
        for (const turn of all) await turn();
        continue;
      }
      await gathered();
      if (exclusiveTasks.length > 0) continue;
      if (queue.bytes < options.maxBatchBytes) await delay(options.lingerMs);
      const taken = queue.takeBatch();
      inFlightBytes += bytesOf(taken);
      const batch = await prepareBatch(taken, prepare, queue);
      inFlightBytes -= bytesOf(taken) - bytesOf(batch.left) - bytesOf(batch.failed);
      await writing;
      writing = flush(batch);
    }
    running = undefined;
  };
  const start = (): void => {
    arrivals.announce();
    // on behalf of all whose items are written
    running ??= runAsTenant(SYSTEM_TENANT, run);
  };

  return {
    async write(items) {
      if (items.length === 0) return;
      const bytes = items.reduce((sum, item) => sum + options.sizeOf(item), 0);
      const tenant = currentTenant();
      const held = pending.tryAcquire(tenant, Math.min(bytes, pending.capacity));
      if (held === undefined) {
        throw new StorageError("overloaded", options.name, undefined, "too many bytes wait to be written");
      }
      const write = new PendingWrite<Item>(tenant);
      queue.push(write.chunk(items, bytes, placeOf));
      start();
      try {
        await write.finished;
      } finally {
        held.release();
      }
    },
    whileNoInsertRuns<Result>(work: () => Promise<Result>) {
      const { promise, resolve, reject } = Promise.withResolvers<Result>();
      exclusiveTasks.push(() => work().then(resolve, reject));
      start();
      return promise;
    },
    async drain() {
      await running;
      await writing;
    },
    pendingBytes: () => queue.bytes + inFlightBytes,
  };
}

interface PreparedBatch<Item> {
  readonly left: readonly WriteChunk<Item>[];
  readonly failed: readonly WriteChunk<Item>[];
}

/** Does all steps with what of a batch stays together. */
async function prepareBatch<Item>(
  batch: readonly WriteChunk<Item>[],
  steps: readonly ((items: readonly Item[]) => Promise<void>)[],
  queue: WriteQueue<Item>,
): Promise<PreparedBatch<Item>> {
  let left = batch;
  const failed: WriteChunk<Item>[] = [];
  for (const step of steps) {
    const taken = await commitOrSplit(left, step);
    failed.push(...left.filter((chunk) => !taken.includes(chunk)));
    left = queue.deferOtherPartitions(taken);
  }
  return { left, failed };
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
function eventOf(name: string, batch: readonly WriteChunk<unknown>[]): BatchEvent {
  return {
    name,
    items: batch.reduce((sum, chunk) => sum + chunk.items.length, 0),
    bytes: bytesOf(batch),
    lagMs: performance.now() - Math.min(...batch.map((chunk) => chunk.write.arrivedMs)),
  };
}

/**
 * The pieces that were accepted; the writers of the others are rejected with the reason. One writer's bad items must not
 * fail the others: a batch that the store refuses is tried piece by piece.
 */
async function commitOrSplit<Item>(
  batch: readonly WriteChunk<Item>[],
  work: (items: readonly Item[]) => Promise<void>,
): Promise<readonly WriteChunk<Item>[]> {
  if (batch.length === 0) return [];
  try {
    await work(batch.flatMap((chunk) => chunk.items));
    return batch;
  } catch (error) {
    const refused = error instanceof StorageError && error.kind === "statement";
    if (!refused || batch.length === 1) {
      for (const chunk of batch) chunk.write.fail(error);
      return [];
    }
    const taken: WriteChunk<Item>[] = [];
    for (const chunk of batch) taken.push(...(await commitOrSplit([chunk], work)));
    return taken;
  }
}
