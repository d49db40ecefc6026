import { resize } from "../../../shared/buffers.ts";
import { NONE } from "../../table/call-table.ts";
import { HashTable } from "../../table/hash-table.ts";
import { hashOf, type ByteRange, randomSeed } from "../../table/id-bytes.ts";

const SEED = randomSeed();
const OTHER_SEED = randomSeed();
const EXPECTED = 512;

/**
 * Set of ids by a 64-bit hash with random seeds: among a million ids, distinct ones collide once in tens of millions of
 * responses.
 */
export class SeenIds {
  private count = 0;
  private readonly table = new HashTable(EXPECTED);
  /** Second half of each id's hash. */
  private others = new Int32Array(EXPECTED);

  /** Adds an id; false if it was already present. */
  add(source: DataView, range: ByteRange): boolean {
    const hash = hashOf(source, range, SEED);
    const other = hashOf(source, range, OTHER_SEED);
    if (this.table.find(hash, (id) => this.others[id] === other) !== NONE) return false;
    if (this.count === this.others.length) this.others = resize(this.others, new Int32Array(this.count * 2));
    this.others[this.count] = other;
    this.table.add(hash, this.count++);
    return true;
  }
}
