import type { Tenant } from "../fairness/tenant.ts";

/** Items of one write that are stored together. */
export interface WriteChunk<Item> {
  readonly write: PendingWrite<Item>;
  readonly items: readonly Item[];
  readonly bytes: number;
  /** Where they go, as far as that is known. */
  readonly partitions: ReadonlySet<number>;
}

export type PartitionOf<Item> = (item: Item) => number | undefined;

/** What somebody waits for: all of its pieces. */
export class PendingWrite<Item> {
  readonly tenant: Tenant;
  readonly arrivedMs = performance.now();
  readonly #finished = Promise.withResolvers<void>();
  readonly #open = new Set<WriteChunk<Item>>();
  #hasFailed = false;

  constructor(tenant: Tenant) {
    this.tenant = tenant;
  }

  /** Resolves when all pieces are durable; rejects when one has failed. */
  get finished(): Promise<void> {
    return this.#finished.promise;
  }

  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  chunk(items: readonly Item[], bytes: number, placeOf: PartitionOf<Item>): WriteChunk<Item> {
    const partitions = new Set(items.map(placeOf).filter((partition) => partition !== undefined));
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
  readonly placeOf: PartitionOf<Item>;
  readonly maxPlaces: number;
  readonly sizeOf: (item: Item) => number;
}

/**
 * What of a batch goes to `maxPlaces` places at most, and the rest in pieces of which that is true. The order of the items
 * of a place stays; what goes nowhere yet stays with the first.
 */
export function splitByPartition<Item>(
  batch: readonly WriteChunk<Item>[],
  { placeOf, maxPlaces, sizeOf }: SplitOptions<Item>,
): { readonly kept: readonly WriteChunk<Item>[]; readonly rest: readonly WriteChunk<Item>[] } {
  const near = new Set<number>();
  const kept: WriteChunk<Item>[] = [];
  const rest: WriteChunk<Item>[] = [];
  for (const chunk of batch) {
    const [first, ...others] = groupsOf(chunk.items, { placeOf, maxPlaces, near });
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
          placeOf,
        ),
      );
    if (first!.length > 0) kept.push(own!);
    else rest.push(own!);
    rest.push(...more);
    chunk.write.finish(chunk);
  }
  return { kept, rest };
}

/** The items that go to the places in `near`, which grows to `maxPlaces`, and the others by so many places each. */
function groupsOf<Item>(
  items: readonly Item[],
  { placeOf, maxPlaces, near }: { placeOf: PartitionOf<Item>; maxPlaces: number; near: Set<number> },
): readonly Item[][] {
  const groups: Item[][] = [[]];
  const groupOf = new Map<number, number>();
  for (const item of items) {
    const place = placeOf(item);
    if (place !== undefined && !near.has(place) && near.size < maxPlaces) near.add(place);
    if (place === undefined || near.has(place)) {
      groups[0]!.push(item);
      continue;
    }
    if (!groupOf.has(place)) groupOf.set(place, 1 + Math.floor(groupOf.size / maxPlaces));
    const group = groupOf.get(place)!;
    (groups[group] ??= []).push(item);
  }
  return groups;
}

export function bytesOf(chunks: readonly WriteChunk<unknown>[]): number {
  return chunks.reduce((sum, chunk) => sum + chunk.bytes, 0);
}

export function fitsPartitions(some: ReadonlySet<number>, more: ReadonlySet<number>, max: number): boolean {
  let count = some.size;
  for (const place of more) if (!some.has(place)) count++;
  return count <= max;
}
