import { INCLUSIVE, type Inclusive } from "../../calls/events/message-columns.ts";
import { USAGE_SOURCES, type UsageSource } from "../../calls/events/completion.ts";
import type { TextRanges } from "../../store/rows/native-reader.ts";
import { release } from "../../shared/buffers.ts";
import type { UsageEntries } from "./usage-entries.ts";

/** Number of no call or entry. */
export const NONE = -1;

const FINISHED = 1;
const SELECTED = 2;
/** Two bits for each of the columns `inclusive` and `usage_source`. */
const INCLUSIVE_SHIFT = 2;
const SOURCE_SHIFT = 4;
const TWO_BITS = 3;
/** Both bits of the last source. */
const ELSEWHERE = USAGE_SOURCES.indexOf("elsewhere") << SOURCE_SHIFT;

/**
 * Column table of the calls of traces, numbered in the order read, with only what the roll-up needs. One object per call would
 * cost more than all other work.
 */
export interface CallTable extends Disposable {
  readonly count: number;
  readonly traceCount: number;
  /** Bytes that contain the ids. */
  readonly source: Buffer;
  readonly ids: TextRanges;
  /** Parent of each call in its trace; NONE for a root. */
  readonly parents: Int32Array;
  readonly flags: Uint8Array;
  /** Microseconds since the epoch. */
  readonly startedAtUs: Float64Array;
  /** End of each call's usage entries, which begin at the end of the previous call's. */
  readonly usageEnd: Int32Array;
  readonly usage: UsageEntries;
  /** Number of the completion that each call reports with others, or NONE. `undefined` if there are none. */
  readonly completionOf: Int32Array | undefined;
}

export function callTable(columns: Omit<CallTable, typeof Symbol.dispose>): CallTable {
  return { ...columns, [Symbol.dispose]: releaseColumns };
}

function releaseColumns(this: CallTable): void {
  const { source, ids, parents, flags, startedAtUs, usageEnd, usage } = this;
  release(source, ids.starts, ids.ends, parents, flags, startedAtUs, usageEnd);
  usage[Symbol.dispose]();
}

/** True if some call repeats usage of its descendants. */
export function hasInclusive(calls: Pick<CallTable, "count" | "flags">): boolean {
  for (let call = 0; call < calls.count; call++) if (inclusiveOf(calls, call) !== false) return true;
  return false;
}

export function idOf(calls: CallTable, call: number): string {
  return calls.source.toString("utf8", calls.ids.starts[call], calls.ids.ends[call]);
}

/** Returns the first usage entry of a call. */
export function usageStartOf({ usageEnd }: Pick<CallTable, "usageEnd">, call: number): number {
  return call === 0 ? 0 : usageEnd[call - 1]!;
}

export interface Flags {
  readonly finished: boolean;
  readonly selected: boolean;
  /** Values of the columns `inclusive` and `usage_source`. */
  readonly inclusive: number;
  readonly usageSource: number;
}

export function flagsOf({ finished, selected, inclusive, usageSource }: Flags): number {
  const ofColumns = (inclusive << INCLUSIVE_SHIFT) | (usageSource << SOURCE_SHIFT);
  return (finished ? FINISHED : 0) | (selected ? SELECTED : 0) | ofColumns;
}

export function isFinished(calls: CallTable, call: number): boolean {
  return (calls.flags[call]! & FINISHED) !== 0;
}

export function isSelected(calls: CallTable, call: number): boolean {
  return (calls.flags[call]! & SELECTED) !== 0;
}

/** True for selected calls and for inclusive ones, which are compared with the total of their children. */
export function needsTotal(calls: CallTable, call: number): boolean {
  return (calls.flags[call]! & (SELECTED | (TWO_BITS << INCLUSIVE_SHIFT))) !== 0;
}

export function inclusiveOf({ flags }: Pick<CallTable, "flags">, call: number): Inclusive {
  return INCLUSIVE[(flags[call]! >> INCLUSIVE_SHIFT) & TWO_BITS] ?? false;
}

/** Clears the inclusive bits of flags. */
export function withoutInclusive(flags: number): number {
  return flags & ~(TWO_BITS << INCLUSIVE_SHIFT);
}

export function reporterOf({ flags }: Pick<CallTable, "flags">, call: number): UsageSource {
  return USAGE_SOURCES[(flags[call]! >> SOURCE_SHIFT) & TWO_BITS] ?? "client";
}

/** True for a call whose usage a call outside of its trace counts. */
export function countsElsewhere(calls: Pick<CallTable, "flags">, call: number): boolean {
  return (calls.flags[call]! & ELSEWHERE) === ELSEWHERE;
}

/** Marks flags as those of a call that counts elsewhere. */
export function asElsewhere(flags: number): number {
  return flags | ELSEWHERE;
}

export function someCountElsewhere({ count, flags }: Pick<CallTable, "count" | "flags">): boolean {
  for (let call = 0; call < count; call++) if ((flags[call]! & ELSEWHERE) === ELSEWHERE) return true;
  return false;
}

export function withSelected(flags: number, selected: boolean): number {
  return selected ? flags | SELECTED : flags & ~SELECTED;
}
