import { setTimeout as delay } from "node:timers/promises";
import type { FairSemaphore } from "../fairness/fair-semaphore.ts";
import { runAsTenant, currentTenant, SYSTEM_TENANT } from "../fairness/tenant.ts";
import { StorageError } from "./storage-error.ts";
import { WriteQueue } from "./write-queue.ts";
import { bytesOf, PendingWrite, type WriteChunk } from "./write-chunks.ts";

/** Options shared by all writers. */
export interface GroupCommitSettings {
  /** Time the first item of a batch waits for others, in milliseconds. */
  readonly lingerMs: number;
  /** Limiter of pending bytes, shared by writers. */
  readonly pending: FairSemaphore;
  /** Called for every finished batch. */
  readonly onBatch?: (batch: BatchEvent) => void;
}

export interface BatchEvent {
  /** The writer's fixed name. */
  readonly name: string;
  /** Milliseconds from the arrival of its first item until it was durable or rejected. */
  readonly lagMs: number;
}

export interface GroupCommitOptions<Item> extends GroupCommitSettings {
  /** Steps before `flush`. Each must be idempotent and harmless if the batch is never written. */
  readonly prepare?: readonly ((items: readonly Item[]) => Promise<void>)[];
  /** Partition of an item; `undefined` until a step of `prepare` resolves it. Default: one partition for all. */
  readonly partitionOf?: (item: Item) => number | undefined;
  /** Maximum partitions per batch; larger batches are split, and other writers take turns in between. */
  readonly maxPartitions?: number;
  /**
   * Pending bytes from which a batch is prepared while the previous one is written. Smaller batches wait and grow, because
   * the number of statements does not depend on the batch size.
   */
  readonly minPipelinedBytes?: number;
  /** Writes one batch; resolves when it is durable. Must be idempotent. */
  readonly flush: (items: readonly Item[]) => Promise<void>;
  readonly sizeOf: (item: Item) => number;
  readonly maxBatchBytes: number;
  readonly name: string;
}

export interface GroupCommit<Item> {
  /** Resolves when the items are durable. Throws the `StorageError` of the flush, or "overloaded" if `pending` is full. */
  write(items: readonly Item[]): Promise<void>;
  /** Runs `work` between two batches, while none is being written. */
  runExclusive<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Resolves when no batch is pending. */
  drain(): Promise<void>;
  pendingBytes(): number;
}

/**
 * Combines many small writes into few large batches: while one batch is written, the next one accumulates. At most one
 * batch is prepared and one written at a time. Projects take turns, and API keys within a project; writes of one key are
 * stored in order of arrival, so that a client's call events stay in order.
 */
export function createGroupCommit<Item>(options: GroupCommitOptions<Item>): GroupCommit<Item> {
  const { pending, partitionOf = () => 0, maxPartitions = 1, prepare = [] } = options;
  const queue = new WriteQueue<Item>({ ...options, partitionOf, maxPartitions });
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

  /** Waits until the running batch is written or the next one is large enough to prepare concurrently. */
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
    // a batch has items of several tenants
    running ??= runAsTenant(SYSTEM_TENANT, run);
  };

  return {
    async write(items) {
      if (items.length === 0) return;
      const bytes = items.reduce((sum, item) => sum + options.sizeOf(item), 0);
      const tenant = currentTenant();
      const permit = pending.tryAcquire(tenant, Math.min(bytes, pending.capacity));
      if (permit === undefined) {
        throw new StorageError("overloaded", options.name, undefined, "too many pending bytes");
      }
      const write = new PendingWrite<Item>(tenant);
      queue.push(write.chunk(items, bytes, partitionOf));
      start();
      try {
        await write.finished;
      } finally {
        permit.release();
      }
    },
    runExclusive<Result>(work: () => Promise<Result>) {
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

/** Runs all steps; defers chunks that turn out to belong to other partitions. */
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

/** Creates the event of a batch that has just ended. */
function eventOf(name: string, batch: readonly WriteChunk<unknown>[]): BatchEvent {
  return {
    name,
    lagMs: performance.now() - Math.min(...batch.map((chunk) => chunk.write.arrivedMs)),
  };
}

/**
 * Returns the accepted chunks and rejects the writers of the others. A batch that ClickHouse rejects is retried chunk by
 * chunk, so that one writer's bad items do not fail the others.
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
    const isRejected = error instanceof StorageError && error.kind === "statement";
    if (!isRejected || batch.length === 1) {
      for (const chunk of batch) chunk.write.fail(error);
      return [];
    }
    const taken: WriteChunk<Item>[] = [];
    for (const chunk of batch) taken.push(...(await commitOrSplit([chunk], work)));
    return taken;
  }
}
