import type { Places } from "../clickhouse/native-reader.ts";
import { NONE } from "./call-table.ts";
import type { SelectedTrace } from "./selection.ts";

/** Numbers traces by their ids. Rows of one trace come together: a look at the row before answers most times. */
export class TraceNumbers {
  private readonly source: Buffer;
  private readonly numbers: ReadonlyMap<string, number>;

  constructor(source: Buffer, traces: readonly SelectedTrace[]) {
    this.source = source;
    this.numbers = new Map(traces.map((trace, number) => [trace.traceId, number]));
  }

  /** Fills `into` with the numbers of the traces whose ids stand in those places. */
  read({ starts, ends }: Places, into: Int32Array): void {
    for (let row = 0; row < into.length; row++) {
      const start = starts[row]!;
      const end = ends[row]!;
      if (row > 0 && this.isSame(start, end, starts[row - 1]!, ends[row - 1]!)) into[row] = into[row - 1]!;
      else into[row] = this.numbers.get(this.source.toString("utf8", start, end)) ?? NONE;
    }
  }

  private isSame(start: number, end: number, otherStart: number, otherEnd: number): boolean {
    if (otherEnd - otherStart !== end - start) return false;
    for (let at = start, other = otherStart; at < end; at++, other++) {
      if (this.source[at] !== this.source[other]) return false;
    }
    return true;
  }
}
