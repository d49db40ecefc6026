import { type CallTable, NONE, withSelected } from "./call-table.ts";
import { IdIndex } from "./id-index.ts";
import type { LlmNames } from "./llm-names.ts";
import { parseUsageColumn } from "./parse-usage-column.ts";
import type { SelectedTrace } from "./selection.ts";
import { UsageEntries } from "./usage-entries.ts";

const FIXED_BYTES = 9; // flags and the instant

/**
 * Decodes the RowBinary rows of `callRowBytes`: trace, id, parent, flags, instant, usage. Calls of several traces stand in
 * one table; a parent is looked for in the call's own trace.
 */
export function readCallTable(source: Buffer, traces: readonly SelectedTrace[], names: LlmNames): CallTable {
  const count = countRows(source);
  const idStart = new Uint32Array(count);
  const idEnd = new Uint32Array(count);
  const parentStart = new Uint32Array(count);
  const parentEnd = new Uint32Array(count);
  const traceOf = new Int32Array(count);
  const flags = new Uint8Array(count);
  const startedAtMs = new Float64Array(count);
  const usageStart = new Int32Array(count + 1);
  const usage = new UsageEntries();
  const traceNumbers = new TraceNumbers(source, traces);
  const cursor = new Cursor(source);
  for (let call = 0; call < count; call++) {
    cursor.next();
    traceOf[call] = traceNumbers.numberOf(cursor.start, cursor.end);
    cursor.next();
    idStart[call] = cursor.start;
    idEnd[call] = cursor.end;
    cursor.next();
    parentStart[call] = cursor.start;
    parentEnd[call] = cursor.end;
    flags[call] = source[cursor.end]!;
    startedAtMs[call] = int64(source, cursor.end + 1);
    cursor.skip(FIXED_BYTES);
    cursor.next();
    parseUsageColumn(source, cursor, { names, entries: usage });
    usageStart[call + 1] = usage.length;
  }
  selectByIds({ source, idStart, idEnd, flags, traceOf }, traces);
  const index = new IdIndex(source, { traces: traceOf, starts: idStart, ends: idEnd });
  const parents = new Int32Array(count);
  for (let call = 0; call < count; call++) {
    const isRoot = parentStart[call] === parentEnd[call];
    parents[call] = isRoot ? NONE : index.find(traceOf[call]!, parentStart[call]!, parentEnd[call]!);
  }
  return { count, source, idStart, idEnd, parents, flags, startedAtMs, usageStart, usage };
}

function countRows(source: Buffer): number {
  const cursor = new Cursor(source);
  let count = 0;
  for (; !cursor.done; count++) {
    cursor.next();
    cursor.next();
    cursor.next();
    cursor.skip(FIXED_BYTES);
    cursor.next();
  }
  return count;
}

/** Steps over length-prefixed strings. */
class Cursor {
  start = 0;
  end = 0;
  private readonly source: Buffer;

  constructor(source: Buffer) {
    this.source = source;
  }

  get done(): boolean {
    return this.end >= this.source.length;
  }

  next(): void {
    let at = this.end;
    let length = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.source[at++]!;
      length += (byte & 0x7f) * scale;
      if (byte < 0x80) break;
    }
    this.start = at;
    this.end = at + length;
  }

  skip(bytes: number): void {
    this.end += bytes;
  }
}

/** Exact up to 2^53. */
function int64(source: Buffer, at: number): number {
  return source.readUInt32LE(at) + source.readInt32LE(at + 4) * 4_294_967_296;
}

/** Rows of one trace come together, so that a look at the row before answers most times. */
class TraceNumbers {
  private readonly source: Buffer;
  private readonly numbers: ReadonlyMap<string, number>;
  private lastStart = 0;
  private lastEnd = -1;
  private last = 0;

  constructor(source: Buffer, traces: readonly SelectedTrace[]) {
    this.source = source;
    this.numbers = new Map(traces.map((trace, number) => [trace.traceId, number]));
  }

  numberOf(start: number, end: number): number {
    if (this.numbers.size === 1) return 0;
    if (this.isLast(start, end)) return this.last;
    this.last = this.numbers.get(this.source.toString("utf8", start, end)) ?? NONE;
    this.lastStart = start;
    this.lastEnd = end;
    return this.last;
  }

  private isLast(start: number, end: number): boolean {
    if (this.lastEnd - this.lastStart !== end - start) return false;
    for (let at = start, other = this.lastStart; at < end; at++, other++) {
      if (this.source[at] !== this.source[other]) return false;
    }
    return true;
  }
}

interface Selectable {
  readonly source: Buffer;
  readonly idStart: Uint32Array;
  readonly idEnd: Uint32Array;
  readonly flags: Uint8Array;
  readonly traceOf: Int32Array;
}

/** Where the ids are known already, they decide. */
function selectByIds(
  { source, idStart, idEnd, flags, traceOf }: Selectable,
  traces: readonly SelectedTrace[],
): void {
  if (traces.every((trace) => trace.ids === undefined)) return;
  for (let call = 0; call < flags.length; call++) {
    const ids = traces[traceOf[call]!]?.ids;
    const selected = ids?.has(source.toString("utf8", idStart[call], idEnd[call])) ?? false;
    flags[call] = withSelected(flags[call]!, selected);
  }
}
