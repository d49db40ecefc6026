import { release } from "../../shared/buffers.ts";
import { NONE } from "./call-table.ts";

/** Growing hash table of numbers with open addressing; callers supply hashes and comparisons. */
export class HashTable {
  private count = 0;
  private hashes: Int32Array;
  private numbers: Int32Array;

  /** `expected`: number of entries. */
  constructor(expected: number) {
    const size = 2 ** Math.ceil(Math.log2(Math.max(8, expected) * 2));
    this.hashes = new Int32Array(size);
    this.numbers = new Int32Array(size).fill(NONE);
  }

  /** Finds a number, or NONE. */
  find(hash: number, isSame: (number: number) => boolean): number {
    const { hashes, numbers } = this;
    const mask = numbers.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const number = numbers[slot]!;
      if (number === NONE || (hashes[slot] === hash && isSame(number))) return number;
    }
  }

  /** Adds a number that is not present. */
  add(hash: number, number: number): void {
    if (++this.count * 2 > this.numbers.length) this.grow();
    this.put(hash, number);
  }

  private put(hash: number, number: number): void {
    const mask = this.numbers.length - 1;
    let slot = hash & mask;
    while (this.numbers[slot] !== NONE) slot = (slot + 1) & mask;
    this.hashes[slot] = hash;
    this.numbers[slot] = number;
  }

  private grow(): void {
    const { hashes, numbers } = this;
    this.hashes = new Int32Array(hashes.length * 2);
    this.numbers = new Int32Array(numbers.length * 2).fill(NONE);
    for (const [slot, number] of numbers.entries()) if (number !== NONE) this.put(hashes[slot]!, number);
    release(hashes, numbers);
  }
}
