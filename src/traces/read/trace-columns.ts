import { sql, type Sql } from "../../query/sql.ts";
import type { ExtraColumns } from "../../trace-usage/read-calls.ts";
import { rangesFor, type NativeReader, type TextRanges } from "../../store/rows/native-reader.ts";
import { HAS_FAILED } from "./find-traces.ts";

/** Columns read besides those of the fold: failure and trace. */
export class TraceColumns {
  private errors = new Uint8Array(0);
  private traceIds: TextRanges = rangesFor(0);
  private readonly source: Buffer;
  /** Calls of a trace follow each other. */
  private last: { readonly bytes: Buffer; readonly text: string } | undefined;

  constructor(source: Buffer) {
    this.source = source;
  }

  readonly readBlock = (reader: NativeReader, first: number, count: number): void => {
    const errors = new Uint8Array(first + count);
    errors.set(this.errors);
    errors.set(reader.uint8s(), first);
    this.errors = errors;
    const traceIds = rangesFor(first + count);
    traceIds.starts.set(this.traceIds.starts);
    traceIds.ends.set(this.traceIds.ends);
    reader.strings(traceIds, first);
    this.traceIds = traceIds;
  };

  isError(call: number): boolean {
    return this.errors[call] === 1;
  }

  traceOf(call: number): string {
    const bytes = this.source.subarray(this.traceIds.starts[call], this.traceIds.ends[call]);
    if (this.last !== undefined && bytes.equals(this.last.bytes)) return this.last.text;
    this.last = { bytes, text: bytes.toString("utf8") };
    return this.last.text;
  }
}

export const TRACE_COLUMNS: ExtraColumns<TraceColumns> = {
  select: (): Sql => sql`, toUInt8(${HAS_FAILED}), trace_id`,
  open(bytes) {
    const more = new TraceColumns(bytes);
    return { more, readBlock: more.readBlock };
  },
};
