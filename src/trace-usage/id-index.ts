import { randomBytes } from "node:crypto";
import { NONE } from "./call-table.ts";

/** Differs from process to process, so that nobody can choose ids that fall into one place. */
const SEED = randomBytes(4).readInt32LE();

/** Finds calls by trace and id where they stand, in the engine's bytes: no strings are made. Open addressing. */
export class IdIndex {
  private readonly source: Buffer;
  private readonly mask: number;
  private readonly places: Int32Array;
  private readonly traces: Int32Array;
  private readonly starts: Uint32Array;
  private readonly ends: Uint32Array;

  constructor(source: Buffer, ids: { traces: Int32Array; starts: Uint32Array; ends: Uint32Array }) {
    this.source = source;
    this.traces = ids.traces;
    this.starts = ids.starts;
    this.ends = ids.ends;
    const size = 2 ** Math.ceil(Math.log2(Math.max(2, ids.starts.length) * 2));
    this.mask = size - 1;
    this.places = new Int32Array(size).fill(NONE);
    for (let call = 0; call < ids.starts.length; call++) {
      this.places[this.placeOf(ids.traces[call]!, ids.starts[call]!, ids.ends[call]!)] = call;
    }
  }

  /** The call of a trace whose id are these bytes. */
  find(trace: number, start: number, end: number): number {
    return this.places[this.placeOf(trace, start, end)]!;
  }

  /** Where such a call stands, or would stand. */
  private placeOf(trace: number, start: number, end: number): number {
    let place = this.hash(trace, start, end) & this.mask;
    for (let call = this.places[place]!; call !== NONE; call = this.places[place]!) {
      if (this.traces[call] === trace && this.sameBytes(call, start, end)) return place;
      place = (place + 1) & this.mask;
    }
    return place;
  }

  private sameBytes(call: number, start: number, end: number): boolean {
    const other = this.starts[call]!;
    if (this.ends[call]! - other !== end - start) return false;
    for (let at = start; at < end; at++)
      if (this.source[at] !== this.source[other + at - start]) return false;
    return true;
  }

  /** FNV-1a over the bytes, seeded, its high bits mixed down. */
  private hash(trace: number, start: number, end: number): number {
    let hash = SEED ^ Math.imul(trace + 1, 0x9e3779b1);
    for (let at = start; at < end; at++) hash = Math.imul(hash ^ this.source[at]!, 0x01000193);
    hash ^= hash >>> 15;
    hash = Math.imul(hash, 0x85ebca6b);
    return hash ^ (hash >>> 13);
  }
}
