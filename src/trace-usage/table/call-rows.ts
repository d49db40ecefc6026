import { rangesFor, type TextRanges } from "../../store/rows/native-reader.ts";
import { release, resize } from "../../shared/buffers.ts";

/** Columns of the calls read so far, growing block by block. */
export class CallRows {
  count = 0;
  traceOf = new Int32Array(0);
  ids = rangesFor(0);
  parentIds = rangesFor(0);
  /** Completion id of each call; empty for none. */
  completionIds = rangesFor(0);
  /** Infinity for a running call. */
  endedAtUs = new Float64Array(0);
  flags = new Uint8Array(0);
  startedAtUs = new Float64Array(0);
  /** End of each call's usage entries. */
  usageEnd = new Int32Array(0);

  /** Adds empty rows and returns the number of the first. */
  add(rows: number): number {
    const first = this.count;
    this.count += rows;
    if (this.count > this.flags.length) this.grow(Math.max(this.count, this.flags.length * 2));
    return first;
  }

  /** Releases columns that only the reader needs. */
  release(): void {
    const { traceOf, parentIds, completionIds, endedAtUs } = this;
    release(traceOf, parentIds.starts, parentIds.ends, completionIds.starts, completionIds.ends, endedAtUs);
  }

  private grow(size: number): void {
    this.traceOf = resize(this.traceOf, new Int32Array(size));
    this.ids = resizedRanges(this.ids, size);
    this.parentIds = resizedRanges(this.parentIds, size);
    this.completionIds = resizedRanges(this.completionIds, size);
    this.endedAtUs = resize(this.endedAtUs, new Float64Array(size));
    this.flags = resize(this.flags, new Uint8Array(size));
    this.startedAtUs = resize(this.startedAtUs, new Float64Array(size));
    this.usageEnd = resize(this.usageEnd, new Int32Array(size));
  }
}

function resizedRanges({ starts, ends }: TextRanges, size: number): TextRanges {
  const larger = rangesFor(size);
  return { starts: resize(starts, larger.starts), ends: resize(ends, larger.ends) };
}
