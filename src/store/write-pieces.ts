import type { Holder } from "../shares/holder.ts";

/** Items of one write that are stored together. */
export interface Piece<Item> {
  readonly write: Write<Item>;
  readonly items: readonly Item[];
  readonly bytes: number;
  /** Where they go, as far as that is known. */
  readonly places: ReadonlySet<number>;
}

export type PlaceOf<Item> = (item: Item) => number | undefined;

/** What somebody waits for: all of its pieces. */
export class Write<Item> {
  readonly holder: Holder;
  readonly arrivedMs = performance.now();
  readonly #finished = Promise.withResolvers<void>();
  readonly #open = new Set<Piece<Item>>();
  #hasFailed = false;

  constructor(holder: Holder) {
    this.holder = holder;
  }

  /** Resolves when all pieces are durable; rejects when one has failed. */
  get finished(): Promise<void> {
    return this.#finished.promise;
  }

  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  piece(items: readonly Item[], bytes: number, placeOf: PlaceOf<Item>): Piece<Item> {
    const places = new Set(items.map(placeOf).filter((place) => place !== undefined));
    const piece = { write: this, items, bytes, places };
    this.#open.add(piece);
    return piece;
  }

  finish(piece: Piece<Item>): void {
    this.#open.delete(piece);
    if (this.#open.size === 0) this.#finished.resolve();
  }

  fail(error: unknown): void {
    this.#hasFailed = true;
    this.#finished.reject(error);
  }
}

export interface Cut<Item> {
  readonly placeOf: PlaceOf<Item>;
  readonly maxPlaces: number;
  readonly sizeOf: (item: Item) => number;
}

/**
 * What of a batch goes to `maxPlaces` places at most, and the rest in pieces of which that is true. The order of the items
 * of a place stays; what goes nowhere yet stays with the first.
 */
export function cutBatch<Item>(
  batch: readonly Piece<Item>[],
  { placeOf, maxPlaces, sizeOf }: Cut<Item>,
): { readonly kept: readonly Piece<Item>[]; readonly rest: readonly Piece<Item>[] } {
  const near = new Set<number>();
  const kept: Piece<Item>[] = [];
  const rest: Piece<Item>[] = [];
  for (const piece of batch) {
    const [first, ...others] = groupsOf(piece.items, { placeOf, maxPlaces, near });
    if (others.length === 0) {
      kept.push(piece);
      continue;
    }
    const [own, ...more] = [first!, ...others]
      .filter((items) => items.length > 0)
      .map((items) =>
        piece.write.piece(
          items,
          items.reduce((sum, item) => sum + sizeOf(item), 0),
          placeOf,
        ),
      );
    if (first!.length > 0) kept.push(own!);
    else rest.push(own!);
    rest.push(...more);
    piece.write.finish(piece);
  }
  return { kept, rest };
}

/** The items that go to the places in `near`, which grows to `maxPlaces`, and the others by so many places each. */
function groupsOf<Item>(
  items: readonly Item[],
  { placeOf, maxPlaces, near }: { placeOf: PlaceOf<Item>; maxPlaces: number; near: Set<number> },
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

export function bytesOf(pieces: readonly Piece<unknown>[]): number {
  return pieces.reduce((sum, piece) => sum + piece.bytes, 0);
}

export function isWithin(some: ReadonlySet<number>, more: ReadonlySet<number>, max: number): boolean {
  let count = some.size;
  for (const place of more) if (!some.has(place)) count++;
  return count <= max;
}
