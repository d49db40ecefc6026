import { FairQueue, type Queued } from "../fairness/fair-queue.ts";
import {
  bytesOf,
  splitByPartition,
  fitsPartitions,
  type SplitOptions,
  type WriteChunk,
} from "./write-chunks.ts";

export interface BatchLimits<Item> extends SplitOptions<Item> {
  readonly maxBatchBytes: number;
}

/** Queue of write chunks, in fair order. */
export class WriteQueue<Item> {
  readonly #queue = new FairQueue<WriteChunk<Item>>();
  readonly #limits: BatchLimits<Item>;
  #bytes = 0;

  constructor(limits: BatchLimits<Item>) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#queue.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  push(chunk: WriteChunk<Item>): void {
    this.#queue.push(queued(chunk));
    this.#bytes += chunk.bytes;
  }

  /** Dequeues at least one chunk in fair order, up to `maxBatchBytes` and `maxPartitions`. */
  takeBatch(): WriteChunk<Item>[] {
    const { maxBatchBytes, maxPartitions } = this.#limits;
    const batch: WriteChunk<Item>[] = [];
    const partitions = new Set<number>();
    let bytes = 0;
    const mayJoin = (chunk: WriteChunk<Item>): boolean =>
      bytes + chunk.bytes <= maxBatchBytes && fitsPartitions(partitions, chunk.partitions, maxPartitions);
    for (;;) {
      const next = this.#queue.take(({ value }) => batch.length === 0 || mayJoin(value))?.value;
      if (next === undefined) return batch;
      this.#bytes -= next.bytes;
      if (next.write.hasFailed) continue;
      batch.push(next);
      bytes += next.bytes;
      for (const partition of next.partitions) partitions.add(partition);
    }
  }

  /** Returns the part of a batch within `maxPartitions`; requeues the rest at the front. */
  deferOtherPartitions(batch: readonly WriteChunk<Item>[]): readonly WriteChunk<Item>[] {
    const { kept, rest } = splitByPartition(batch, this.#limits);
    for (const chunk of rest.toReversed()) this.#queue.requeue(queued(chunk));
    this.#bytes += bytesOf(rest);
    return kept;
  }
}

function queued<Item>(chunk: WriteChunk<Item>): Queued<WriteChunk<Item>> {
  return { tenant: chunk.write.tenant, cost: Math.max(chunk.bytes, 1), value: chunk };
}
