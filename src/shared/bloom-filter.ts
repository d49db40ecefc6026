/**
 * A set of 32-bit hashes with false positives and no false negatives: of a
 * thousand, two at 16 bits for each hash in it.
 */
export class BloomFilter {
  readonly #words: Uint32Array;
  readonly #shift: number;

  constructor(bitsExponent: number) {
    this.#words = new Uint32Array(2 ** (bitsExponent - 5));
    this.#shift = 32 - bitsExponent;
  }

  /** Whether it was not there before. */
  add(hash: number): boolean {
    let isNew = false;
    for (const multiplier of MULTIPLIERS) {
      const place = Math.imul(hash, multiplier) >>> this.#shift;
      const bit = 1 << (place & 31);
      const word = this.#words[place >>> 5]!;
      if ((word & bit) !== 0) continue;
      isNew = true;
      this.#words[place >>> 5] = word | bit;
    }
    return isNew;
  }

  has(hash: number): boolean {
    return MULTIPLIERS.every((multiplier) => {
      const place = Math.imul(hash, multiplier) >>> this.#shift;
      return (this.#words[place >>> 5]! & (1 << (place & 31))) !== 0;
    });
  }
}

/** Any odd numbers: the upper bits of the products are the places of a hash. */
const MULTIPLIERS = [0x9e3779b1, 0x6c62272f, 0xb5297a4d, 0x1b56c4e9];
