import type { TextRanges } from "../../store/rows/native-reader.ts";
import { HashTable } from "./hash-table.ts";
import { areSameBytes, hashOf, type ByteRange, randomSeed } from "./id-bytes.ts";

const SEED = randomSeed();

/** Index of calls by trace and id, over the bytes read, without strings. */
export class IdIndex {
  private readonly source: DataView;
  private readonly traceOf: Int32Array;
  private readonly ids: TextRanges;
  private readonly table: HashTable;

  constructor(
    source: DataView,
    { count, ids, traceOf }: { count: number; ids: TextRanges; traceOf: Int32Array },
  ) {
    this.source = source;
    this.traceOf = traceOf;
    this.ids = ids;
    this.table = new HashTable(count);
    // an id occurs once in a trace
    for (let call = 0; call < count; call++)
      this.table.add(this.hashOf(traceOf[call]!, this.rangeOf(call)), call);
  }

  /** Finds the call of a trace with this id, or NONE. */
  find(trace: number, id: ByteRange): number {
    return this.table.find(
      this.hashOf(trace, id),
      (call) => this.traceOf[call] === trace && areSameBytes(this.source, id, this.rangeOf(call)),
    );
  }

  release(): void {
    this.table.release();
  }

  private rangeOf(call: number): ByteRange {
    return { start: this.ids.starts[call]!, end: this.ids.ends[call]! };
  }

  private hashOf(trace: number, id: ByteRange): number {
    return hashOf(this.source, id, SEED ^ trace);
  }
}
