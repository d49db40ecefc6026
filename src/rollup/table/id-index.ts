import type { Places } from "../../store/rows/native-reader.ts";
import { HashTable } from "./hash-table.ts";
import { areSameBytes, hashOf, type Place, randomSeed } from "./id-bytes.ts";

const SEED = randomSeed();

/** Finds calls by trace and id in the engine's bytes, without making strings. */
export class IdIndex {
  private readonly source: DataView;
  private readonly traceOf: Int32Array;
  private readonly ids: Places;
  private readonly table: HashTable;

  constructor(
    source: DataView,
    { count, ids, traceOf }: { count: number; ids: Places; traceOf: Int32Array },
  ) {
    this.source = source;
    this.traceOf = traceOf;
    this.ids = ids;
    this.table = new HashTable(count);
    // an id occurs once in a trace
    for (let call = 0; call < count; call++)
      this.table.add(this.hashOf(traceOf[call]!, this.placeOf(call)), call);
  }

  /** The call of a trace with these bytes as id; NONE without one. */
  find(trace: number, id: Place): number {
    return this.table.find(
      this.hashOf(trace, id),
      (call) => this.traceOf[call] === trace && areSameBytes(this.source, id, this.placeOf(call)),
    );
  }

  release(): void {
    this.table.release();
  }

  private placeOf(call: number): Place {
    return { start: this.ids.starts[call]!, end: this.ids.ends[call]! };
  }

  private hashOf(trace: number, id: Place): number {
    return hashOf(this.source, id, SEED ^ trace);
  }
}
