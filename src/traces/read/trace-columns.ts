import { sql } from "../../query/sql.ts";
import type { ExtraColumns } from "../../trace-usage/read-calls.ts";
import { rangesFor, type NativeReader, type TextRanges } from "../../store/rows/native-reader.ts";
import { HAS_FAILED } from "./find-traces.ts";
import { ROOT_TEXT } from "./trace-root.ts";

/** Columns read besides those of the fold: failure, trace, and where requested the root. */
export class TraceColumns {
  private errors = new Uint8Array(0);
  private traceIds: TextRanges = rangesFor(0);
  private roots: TextRanges | undefined;
  private readonly source: Buffer;
  /** Calls of a trace follow each other. */
  private last: { readonly bytes: Buffer; readonly text: string } | undefined;

  constructor(source: Buffer, withRoots: boolean) {
    this.source = source;
    this.roots = withRoots ? rangesFor(0) : undefined;
  }

  readonly readBlock = (reader: NativeReader, first: number, count: number): void => {
    const errors = new Uint8Array(first + count);
    errors.set(this.errors);
    errors.set(reader.uint8s(), first);
    this.errors = errors;
    const withStrings = (known: TextRanges): TextRanges => {
      const ranges = rangesFor(first + count);
      ranges.starts.set(known.starts);
      ranges.ends.set(known.ends);
      reader.strings(ranges, first);
      return ranges;
    };
    this.traceIds = withStrings(this.traceIds);
    if (this.roots !== undefined) this.roots = withStrings(this.roots);
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

  /** Returns `ROOT_TEXT`; '' if roots were not requested. */
  rootTextOf(call: number): string {
    if (this.roots === undefined) return "";
    return this.source.toString("utf8", this.roots.starts[call], this.roots.ends[call]);
  }
}

/** The columns to read. */
export function traceColumns(withRoots: boolean): ExtraColumns<TraceColumns> {
  return {
    select: () => sql`, toUInt8(${HAS_FAILED}), trace_id${withRoots ? sql`, ${ROOT_TEXT}` : sql``}`,
    open(bytes) {
      const more = new TraceColumns(bytes, withRoots);
      return { more, readBlock: more.readBlock };
    },
  };
}
