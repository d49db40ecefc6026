import type { TextRanges } from "../../store/rows/native-reader.ts";
import { HashTable } from "./hash-table.ts";
import { areSameBytes, hashOf, type ByteRange, randomSeed } from "./id-bytes.ts";

const SEED = randomSeed();

/** Index of calls by trace and an id of theirs, over the bytes read, without strings. */
export class IdIndex {
  private readonly source: DataView;
  private readonly ids: TextRanges;
  private readonly traceOf: Int32Array;
  private readonly table: HashTable;

  /** `expected`: number of calls. */
  constructor(
    source: DataView,
    { ids, traceOf }: { readonly ids: TextRanges; readonly traceOf: Int32Array },
    expected: number,
  ) {
    this.source = source;
    this.ids = ids;
    this.traceOf = traceOf;
    this.table = new HashTable(expected);
  }

  /** Finds the call of a trace with this id, or NONE. */
  find(trace: number, id: ByteRange): number {
    return this.table.find(
      hashOf(this.source, id, SEED ^ trace),
      (call) => this.traceOf[call] === trace && areSameBytes(this.source, id, this.rangeOf(call)),
    );
  }

  /** Adds a call whose id its trace does not have yet. */
  add(call: number): void {
    this.table.add(hashOf(this.source, this.rangeOf(call), SEED ^ this.traceOf[call]!), call);
  }

  private rangeOf(call: number): ByteRange {
    return { start: this.ids.starts[call]!, end: this.ids.ends[call]! };
  }
}
