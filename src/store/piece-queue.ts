import { FairQueue, type Queued } from "../shares/fair-queue.ts";
import { bytesOf, cutBatch, isWithin, type Cut, type Piece } from "./write-pieces.ts";

export interface BatchLimits<Item> extends Cut<Item> {
  readonly maxBatchBytes: number;
}

/** What waits to be written, and the next batch of it. */
export class PieceQueue<Item> {
  readonly #queue = new FairQueue<Piece<Item>>();
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

  push(piece: Piece<Item>): void {
    this.#queue.push(queued(piece));
    this.#bytes += piece.bytes;
  }

  /** Those whose turn it is, as far as they fit together; one at least. */
  takeBatch(): Piece<Item>[] {
    const { maxBatchBytes, maxPlaces } = this.#limits;
    const batch: Piece<Item>[] = [];
    const places = new Set<number>();
    let bytes = 0;
    const mayJoin = (piece: Piece<Item>): boolean =>
      bytes + piece.bytes <= maxBatchBytes && isWithin(places, piece.places, maxPlaces);
    for (;;) {
      const next = this.#queue.take(({ value }) => batch.length === 0 || mayJoin(value))?.value;
      if (next === undefined) return batch;
      this.#bytes -= next.bytes;
      if (next.write.hasFailed) continue;
      batch.push(next);
      bytes += next.bytes;
      for (const place of next.places) places.add(place);
    }
  }

  /** Keeps what goes to few places; the rest waits for its next turn, in front of what came after it. */
  keepNear(batch: readonly Piece<Item>[]): readonly Piece<Item>[] {
    const { kept, rest } = cutBatch(batch, this.#limits);
    for (const piece of rest.toReversed()) this.#queue.putBack(queued(piece));
    this.#bytes += bytesOf(rest);
    return kept;
  }
}

function queued<Item>(piece: Piece<Item>): Queued<Piece<Item>> {
  return { holder: piece.write.holder, cost: Math.max(piece.bytes, 1), value: piece };
}
