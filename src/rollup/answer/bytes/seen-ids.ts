import { release } from "../../../shared/buffers.ts";
import { hashOf, randomSeed } from "../../table/id-bytes.ts";

const SEED = randomSeed();
const OTHER_SEED = randomSeed();
const FREE = 0;

/**
 * Remembers ids by 64 bits of a hash that nobody outside can foresee: among a million of them two that differ are taken for one
 * once in tens of millions of answers. Open addressing.
 */
export class SeenIds {
  private count = 0;
  private lows = new Int32Array(1024);
  private highs = new Int32Array(1024);

  /** False when the id was there before. */
  add(source: DataView, place: { start: number; end: number }): boolean {
    if (this.count * 2 >= this.lows.length) this.grow();
    const isNew = this.put(hashOf(source, place, SEED) | 1, hashOf(source, place, OTHER_SEED));
    if (isNew) this.count++;
    return isNew;
  }

  release(): void {
    release(this.lows, this.highs);
  }

  private put(low: number, high: number): boolean {
    const mask = this.lows.length - 1;
    let place = (low >>> 1) & mask;
    for (; this.lows[place] !== FREE; place = (place + 1) & mask) {
      if (this.lows[place] === low && this.highs[place] === high) return false;
    }
    this.lows[place] = low;
    this.highs[place] = high;
    return true;
  }

  private grow(): void {
    const { lows, highs } = this;
    this.lows = new Int32Array(lows.length * 2);
    this.highs = new Int32Array(lows.length * 2);
    for (let place = 0; place < lows.length; place++) {
      if (lows[place] !== FREE) this.put(lows[place]!, highs[place]!);
    }
    release(lows, highs);
  }
}
