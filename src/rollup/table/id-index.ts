import type { Places } from "../../store/rows/native-reader.ts";
import { release } from "../../shared/buffers.ts";
import { NONE } from "./call-table.ts";
import { areSameBytes, hashOf, type Place, randomSeed } from "./id-bytes.ts";

const SEED = randomSeed();

/** Finds calls by trace and id in the engine's bytes, without making strings. Open addressing. */
export class IdIndex {
  private readonly source: DataView;
  private readonly mask: number;
  private readonly places: Int32Array;
  private readonly traceOf: Int32Array;
  private readonly starts: Uint32Array;
  private readonly ends: Uint32Array;

  constructor(
    source: DataView,
    { count, ids, traceOf }: { count: number; ids: Places; traceOf: Int32Array },
  ) {
    this.source = source;
    this.traceOf = traceOf;
    this.starts = ids.starts;
    this.ends = ids.ends;
    const size = 2 ** Math.ceil(Math.log2(Math.max(2, count) * 2));
    this.mask = size - 1;
    this.places = new Int32Array(size).fill(NONE);
    for (let call = 0; call < count; call++) this.add(call);
  }

  /** The call of a trace with these bytes as id; NONE without one. */
  find(trace: number, id: Place): number {
    let place = this.firstPlace(trace, id);
    for (let call = this.places[place]!; call !== NONE; call = this.places[place]!) {
      const other = { start: this.starts[call]!, end: this.ends[call]! };
      if (this.traceOf[call] === trace && areSameBytes(this.source, id, other)) return call;
      place = (place + 1) & this.mask;
    }
    return NONE;
  }

  release(): void {
    release(this.places);
  }

  /** An id occurs once in a trace, so nothing needs to be compared. */
  private add(call: number): void {
    let place = this.firstPlace(this.traceOf[call]!, { start: this.starts[call]!, end: this.ends[call]! });
    while (this.places[place] !== NONE) place = (place + 1) & this.mask;
    this.places[place] = call;
  }

  private firstPlace(trace: number, id: Place): number {
    return hashOf(this.source, id, SEED ^ trace) & this.mask;
  }
}
