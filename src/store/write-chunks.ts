import type { Tenant } from "../fairness/tenant.ts";

/** Items of one write that are stored in one batch. */
export interface WriteChunk<Item> {
  readonly write: PendingWrite<Item>;
  readonly items: readonly Item[];
  readonly bytes: number;
  /** Partitions resolved so far. */
  readonly partitions: ReadonlySet<number>;
}

export type PartitionOf<Item> = (item: Item) => number | undefined;

/** Write request, finished once all of its chunks are. */
export class PendingWrite<Item> {
  readonly tenant: Tenant;
  readonly arrivedMs = performance.now();
  readonly #finished = Promise.withResolvers<void>();
  readonly #open = new Set<WriteChunk<Item>>();
  #hasFailed = false;

  constructor(tenant: Tenant) {
    this.tenant = tenant;
  }

  /** Resolves when all chunks are durable; rejects when one fails. */
  get finished(): Promise<void> {
    return this.#finished.promise;
  }

  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  chunk(items: readonly Item[], bytes: number, partitionOf: PartitionOf<Item>): WriteChunk<Item> {
    const partitions = new Set(items.map(partitionOf).filter((partition) => partition !== undefined));
    const chunk = { write: this, items, bytes, partitions };
    this.#open.add(chunk);
    return chunk;
  }

  finish(chunk: WriteChunk<Item>): void {
    this.#open.delete(chunk);
    if (this.#open.size === 0) this.#finished.resolve();
  }

  fail(error: unknown): void {
    this.#hasFailed = true;
    this.#finished.reject(error);
  }
}

export interface SplitOptions<Item> {
  readonly partitionOf: PartitionOf<Item>;
  readonly maxPartitions: number;
  readonly sizeOf: (item: Item) => number;
}

/**
 * Splits a batch: `kept` has at most `maxPartitions` partitions together, `rest` at most that many per chunk. Preserves the
 * order within a partition; items without a partition stay in the first chunk.
 */
export function splitByPartition<Item>(
  batch: readonly WriteChunk<Item>[],
  { partitionOf, maxPartitions, sizeOf }: SplitOptions<Item>,
): { readonly kept: readonly WriteChunk<Item>[]; readonly rest: readonly WriteChunk<Item>[] } {
  const selected = new Set<number>();
  const kept: WriteChunk<Item>[] = [];
  const rest: WriteChunk<Item>[] = [];
  for (const chunk of batch) {
    const [first, ...others] = groupsOf(chunk.items, { partitionOf, maxPartitions, selected });
    if (others.length === 0) {
      kept.push(chunk);
      continue;
    }
    const [own, ...more] = [first!, ...others]
      .filter((items) => items.length > 0)
      .map((items) =>
        chunk.write.chunk(
          items,
          items.reduce((sum, item) => sum + sizeOf(item), 0),
          partitionOf,
        ),
      );
    if (first!.length > 0) kept.push(own!);
    else rest.push(own!);
    rest.push(...more);
    chunk.write.finish(chunk);
  }
  return { kept, rest };
}

/** Groups items: first those of the `selected` partitions, which grow to `maxPartitions`; then by `maxPartitions` each. */
function groupsOf<Item>(
  items: readonly Item[],
  {
    partitionOf,
    maxPartitions,
    selected,
  }: { partitionOf: PartitionOf<Item>; maxPartitions: number; selected: Set<number> },
): readonly Item[][] {
  const groups: Item[][] = [[]];
  const groupOf = new Map<number, number>();
  for (const item of items) {
    const partition = partitionOf(item);
    if (partition !== undefined && !selected.has(partition) && selected.size < maxPartitions)
      selected.add(partition);
    if (partition === undefined || selected.has(partition)) {
      groups[0]!.push(item);
      continue;
    }
    if (!groupOf.has(partition)) groupOf.set(partition, 1 + Math.floor(groupOf.size / maxPartitions));
    const group = groupOf.get(partition)!;
    (groups[group] ??= []).push(item);
  }
  return groups;
}

export function bytesOf(chunks: readonly WriteChunk<unknown>[]): number {
  return chunks.reduce((sum, chunk) => sum + chunk.bytes, 0);
}

export function fitsPartitions(some: ReadonlySet<number>, more: ReadonlySet<number>, max: number): boolean {
  let count = some.size;
  for (const partition of more) if (!some.has(partition)) count++;
  return count <= max;
}
