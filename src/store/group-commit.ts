import { setTimeout as delay } from "node:timers/promises";
import type { FairShare } from "../shares/fair-share.ts";
import { actingFor, currentHolder, SERVICE } from "../shares/holder.ts";
import { StorageError } from "./storage-error.ts";
import { PieceQueue } from "./piece-queue.ts";
import { bytesOf, Write, type Piece } from "./write-pieces.ts";

/** Options that all writers share. */
export interface GroupCommitSettings {
  /** How long the first item of a batch waits for others, in milliseconds. */
  readonly lingerMs: number;
  /** The bytes that wait, of all writers that are given it. */
  readonly pending: FairShare;
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

/**
 * Turns many small writes into few large ones: while one batch is being written, the next one gathers. One batch is
 * readied at a time and one is written. Of what waits, projects have their turns, and of a project its keys; what comes by
 * one key is stored in the order in which it came, so parts of a call that one client sends in order are stored in order.
 */
export function createGroupCommit<Item>(options: GroupCommitOptions<Item>): GroupCommit<Item> {
  const { pending, keyOf: placeOf = () => 0, maxKeys: maxPlaces = 1, prepare = [] } = options;
  const queue = new PieceQueue<Item>({ ...options, placeOf, maxPlaces });
  let inFlightBytes = 0;
  let running: Promise<void> | undefined;
  let turns: (() => Promise<void>)[] = [];
  let writing: Promise<void> = Promise.resolve();
  const arrivals = new Arrivals();

  const flush = async ({ left, failed }: Readied<Item>): Promise<void> => {
    for (const piece of await those(left, options.flush)) piece.write.finish(piece);
    const batch = [...left, ...failed];
    if (batch.length > 0) options.onBatch?.(eventOf(options.name, batch));
    inFlightBytes -= bytesOf(batch);
  };

  /** Until a batch has been written, or the next one is large enough to be readied beside it. */
  const gathered = async (): Promise<void> => {
    const enough = prepare.length === 0 ? Number.POSITIVE_INFINITY : (options.minBytesBeside ?? 0);
    const mustWait = (): boolean => inFlightBytes > 0 && turns.length === 0 && queue.bytes < enough;
    while (mustWait()) await Promise.race([writing, arrivals.next]);
  };

  const run = async (): Promise<void> => {
    while (queue.size > 0 || turns.length > 0) {
      if (turns.length > 0) {
        await writing;
        const all = turns;
        turns = [];
        for (const turn of all) await turn();
        continue;
      }
      await gathered();
      if (turns.length > 0) continue;
      if (queue.bytes < options.maxBatchBytes) await delay(options.lingerMs);
      const taken = queue.takeBatch();
      inFlightBytes += bytesOf(taken);
      const batch = await ready(taken, prepare, queue);
      inFlightBytes -= bytesOf(taken) - bytesOf(batch.left) - bytesOf(batch.failed);
      await writing;
      writing = flush(batch);
    }
    running = undefined;
  };
  const start = (): void => {
    arrivals.announce();
    // on behalf of all whose items are written
    running ??= actingFor(SERVICE, run);
  };

  return {
    async write(items) {
      if (items.length === 0) return;
      const bytes = items.reduce((sum, item) => sum + options.sizeOf(item), 0);
      const holder = currentHolder();
      const held = pending.tryTake(holder, Math.min(bytes, pending.capacity));
      if (held === undefined) {
        throw new StorageError("overloaded", options.name, undefined, "too many bytes wait to be written");
      }
      const write = new Write<Item>(holder);
      queue.push(write.piece(items, bytes, placeOf));
      start();
      try {
        await write.finished;
      } finally {
        held.release();
      }
    },
    whileNoInsertRuns<Result>(work: () => Promise<Result>) {
      const { promise, resolve, reject } = Promise.withResolvers<Result>();
      turns.push(() => work().then(resolve, reject));
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

interface Readied<Item> {
  readonly left: readonly Piece<Item>[];
  readonly failed: readonly Piece<Item>[];
}

/** Does all steps with what of a batch stays together. */
async function ready<Item>(
  batch: readonly Piece<Item>[],
  steps: readonly ((items: readonly Item[]) => Promise<void>)[],
  queue: PieceQueue<Item>,
): Promise<Readied<Item>> {
  let left = batch;
  const failed: Piece<Item>[] = [];
  for (const step of steps) {
    const taken = await those(left, step);
    failed.push(...left.filter((piece) => !taken.includes(piece)));
    left = queue.keepNear(taken);
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
function eventOf(name: string, batch: readonly Piece<unknown>[]): BatchEvent {
  return {
    name,
    items: batch.reduce((sum, piece) => sum + piece.items.length, 0),
    bytes: bytesOf(batch),
    lagMs: performance.now() - Math.min(...batch.map((piece) => piece.write.arrivedMs)),
  };
}

/**
 * The pieces that were accepted; the writers of the others are rejected with the reason. One writer's bad items must not
 * fail the others: a batch that the store refuses is tried piece by piece.
 */
async function those<Item>(
  batch: readonly Piece<Item>[],
  work: (items: readonly Item[]) => Promise<void>,
): Promise<readonly Piece<Item>[]> {
  if (batch.length === 0) return [];
  try {
    await work(batch.flatMap((piece) => piece.items));
    return batch;
  } catch (error) {
    const refused = error instanceof StorageError && error.kind === "statement";
    if (!refused || batch.length === 1) {
      for (const piece of batch) piece.write.fail(error);
      return [];
    }
    const taken: Piece<Item>[] = [];
    for (const piece of batch) taken.push(...(await those([piece], work)));
    return taken;
  }
}
