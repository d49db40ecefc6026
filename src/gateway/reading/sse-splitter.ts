const LF = 10;
const CR = 13;

/** Consecutive bytes of an event stream. */
export interface StreamChunk {
  readonly bytes: Buffer;
  /** One event with its final blank line; otherwise part of an oversized event. */
  readonly whole: boolean;
  /** An event ends with these bytes. */
  readonly ends: boolean;
}

/**
 * Splits a byte stream into events without changing a byte. Holds back an incomplete event up to `maxHeldBytes`; a larger
 * one is passed on in parts.
 */
export class SseSplitter {
  readonly #maxHeldBytes: number;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #lineHasBytes = false;
  /** The last byte was a CR, which ends a line alone or with a following LF. */
  #afterCr = false;
  /** That CR ended a blank line, and so the event. */
  #ended = false;
  #oversize = false;

  constructor(maxHeldBytes: number) {
    this.#maxHeldBytes = maxHeldBytes;
  }

  /** Part of the current event was already passed on. */
  get inOversizeEvent(): boolean {
    return this.#oversize;
  }

  push(chunk: Buffer): StreamChunk[] {
    const pieces: StreamChunk[] = [];
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      const end = this.#step(byte!, at);
      if (end === undefined) continue;
      this.#take(chunk.subarray(from, end), pieces);
      from = end;
      this.#lineHasBytes = byte !== CR && byte !== LF;
    }
    this.#hold(chunk.subarray(from), pieces);
    return pieces;
  }

  /** Takes the held bytes of an incomplete event. */
  rest(): Buffer {
    const rest = Buffer.concat(this.#held);
    this.#held = [];
    this.#heldBytes = 0;
    return rest;
  }

  /** Reads one byte; returns the end offset of an event, which is before this byte if a lone CR ended it. */
  #step(byte: number, at: number): number | undefined {
    if (this.#afterCr) {
      this.#afterCr = false;
      if (byte === LF) return this.#ended ? at + 1 : undefined;
      if (this.#ended) {
        this.#afterCr = byte === CR;
        return at;
      }
    }
    if (byte === CR) {
      this.#afterCr = true;
      this.#ended = !this.#lineHasBytes;
      this.#lineHasBytes = false;
      return undefined;
    }
    if (byte === LF) {
      const blank = !this.#lineHasBytes;
      this.#lineHasBytes = false;
      return blank ? at + 1 : undefined;
    }
    this.#lineHasBytes = true;
    return undefined;
  }

  #take(last: Buffer, pieces: StreamChunk[]): void {
    const bytes = this.#heldBytes === 0 ? last : Buffer.concat([...this.#held, last]);
    pieces.push({ bytes, whole: !this.#oversize, ends: true });
    this.#held = [];
    this.#heldBytes = 0;
    this.#oversize = false;
    this.#ended = this.#afterCr && this.#ended;
  }

  #hold(bytes: Buffer, pieces: StreamChunk[]): void {
    if (bytes.length === 0) return;
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    if (this.#heldBytes <= this.#maxHeldBytes) return;
    this.#oversize = true;
    pieces.push({ bytes: this.rest(), whole: false, ends: false });
  }
}
