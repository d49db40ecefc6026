import type { TextRanges } from "../../store/rows/native-reader.ts";
import { viewOf } from "../../shared/buffers.ts";
import { areSameBytes } from "./id-bytes.ts";

/** Trace of a table. */
export interface KnownTrace {
  readonly traceId: string;
  /** Ids of the selected calls; `undefined` if the engine evaluates their condition. */
  readonly ids: ReadonlySet<string> | undefined;
}

/**
 * Dictionary of trace ids, in order of appearance. Rows of one trace are consecutive, so comparing with the previous row is
 * mostly enough.
 */
export class TraceDictionary {
  private readonly source: Buffer;
  private readonly numbers: Map<string, number>;

  constructor(source: Buffer, traces: readonly KnownTrace[]) {
    this.source = source;
    this.numbers = new Map(traces.map((trace, number) => [trace.traceId, number]));
  }

  /** Number of traces. */
  get count(): number {
    return this.numbers.size;
  }

  /** Fills `into` with the numbers of the traces with these ids. */
  read({ starts, ends }: TextRanges, into: Int32Array): void {
    const view = viewOf(this.source);
    let number = 0;
    for (let row = 0; row < into.length; row++) {
      const range = { start: starts[row]!, end: ends[row]! };
      if (row === 0 || !areSameBytes(view, range, { start: starts[row - 1]!, end: ends[row - 1]! })) {
        number = this.numberOf(this.source.toString("utf8", range.start, range.end));
      }
      into[row] = number;
    }
  }

  private numberOf(traceId: string): number {
    const known = this.numbers.get(traceId);
    if (known !== undefined) return known;
    const number = this.numbers.size;
    this.numbers.set(traceId, number);
    return number;
  }
}
