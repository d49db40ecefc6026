import { setTimeout as delay } from "node:timers/promises";
import type { FairSemaphore } from "../fairness/fair-semaphore.ts";
import { FairQueue } from "../fairness/fair-queue.ts";
import { runAsTenant, currentTenant, SYSTEM_TENANT, type Tenant } from "../fairness/tenant.ts";
import { StorageError } from "./storage-error.ts";

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
  /** Runs before `flush`. Must be idempotent and harmless if the batch is never written. */
  readonly prepare?: (items: readonly Item[]) => Promise<void>;
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

/** Items that are stored in one batch. */
interface Write<Item> {
  readonly items: readonly Item[];
  readonly bytes: number;
  readonly arrivedMs: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Combines many small writes into few large batches: while one batch is written, the next one accumulates. At most one
 * batch is prepared and one written at a time. Projects take turns, and API keys within a project; writes of one key are
 * stored in order of arrival, so that a client's call events stay in order.
 */
export function createGroupCommit<Item>(options: GroupCommitOptions<Item>): GroupCommit<Item> {
  const { pending, prepare, maxBatchBytes } = options;
  const queue = new WriteQueue<Item>();
  let inFlightBytes = 0;
  let running: Promise<void> | undefined;
  let exclusiveTasks: (() => Promise<void>)[] = [];
  let writing: Promise<void> = Promise.resolve();
  const arrivals = new Arrivals();

  /** `prepared`: the writes of a batch that every step has accepted. */
  const flush = async (batch: readonly Write<Item>[], prepared: readonly Write<Item>[]): Promise<void> => {
    for (const write of await commitOrSplit(prepared, options.flush)) write.resolve();
    const lagMs = performance.now() - Math.min(...batch.map(({ arrivedMs }) => arrivedMs));
    options.onBatch?.({ name: options.name, lagMs });
    inFlightBytes -= bytesOf(batch);
  };

  /** Waits until the running batch is written or the next one is large enough to prepare concurrently. */
  const gathered = async (): Promise<void> => {
    const enough = prepare === undefined ? Number.POSITIVE_INFINITY : (options.minPipelinedBytes ?? 0);
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
      if (queue.bytes < maxBatchBytes) await delay(options.lingerMs);
      const batch = queue.takeBatch(maxBatchBytes);
      inFlightBytes += bytesOf(batch);
      const prepared = prepare === undefined ? batch : await commitOrSplit(batch, prepare);
      await writing;
      writing = flush(batch, prepared);
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
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      queue.push(tenant, { items, bytes, arrivedMs: performance.now(), resolve, reject });
      start();
      try {
        await promise;
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

/** Queue of writes, in fair order. */
class WriteQueue<Item> {
  readonly #queue = new FairQueue<Write<Item>>();
  #bytes = 0;

  get size(): number {
    return this.#queue.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  push(tenant: Tenant, write: Write<Item>): void {
    this.#queue.push({ tenant, cost: Math.max(write.bytes, 1), value: write });
    this.#bytes += write.bytes;
  }

  /** Dequeues at least one write, and others up to `maxBytes` together. */
  takeBatch(maxBytes: number): readonly Write<Item>[] {
    const batch: Write<Item>[] = [];
    let bytes = 0;
    for (;;) {
      const next = this.#queue.take(({ value }) => batch.length === 0 || bytes + value.bytes <= maxBytes);
      if (next === undefined) break;
      batch.push(next.value);
      bytes += next.value.bytes;
    }
    this.#bytes -= bytes;
    return batch;
  }
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

/**
 * Returns the accepted writes and rejects the others. A batch that ClickHouse rejects is retried write by write, so that one
 * writer's bad items do not fail the others.
 */
async function commitOrSplit<Item>(
  batch: readonly Write<Item>[],
  work: (items: readonly Item[]) => Promise<void>,
): Promise<readonly Write<Item>[]> {
  if (batch.length === 0) return [];
  try {
    await work(batch.flatMap(({ items }) => items));
    return batch;
  } catch (error) {
    const isRejected = error instanceof StorageError && error.kind === "statement";
    if (!isRejected || batch.length === 1) {
      for (const write of batch) write.reject(error);
      return [];
    }
    const accepted: Write<Item>[] = [];
    for (const write of batch) accepted.push(...(await commitOrSplit([write], work)));
    return accepted;
  }
}

function bytesOf(batch: readonly Write<unknown>[]): number {
  return batch.reduce((sum, { bytes }) => sum + bytes, 0);
}
