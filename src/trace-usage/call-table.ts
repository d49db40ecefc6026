import { INCLUSIVE, type Inclusive } from "../calls/call-part.ts";
import type { UsageEntries } from "./usage-entries.ts";

/** For numbers of calls and entries: there is none. */
export const NONE = -1;

const FINISHED = 1;
const SELECTED = 2;
/** The bits above those two: the column `inclusive`. */
const INCLUSIVE_SHIFT = 2;

/**
 * The calls of some traces in columns, numbered as they came: what the roll-up needs, and nothing more. Objects per call would cost
 * more than all the work on them.
 */
export interface CallTable {
  readonly count: number;
  /** The bytes that hold the ids. */
  readonly source: Buffer;
  readonly idStart: Uint32Array;
  readonly idEnd: Uint32Array;
  /** The number of each call's parent in its trace; NONE for a root. */
  readonly parents: Int32Array;
  readonly flags: Uint8Array;
  /** Milliseconds since the epoch. */
  readonly startedAtMs: Float64Array;
  /** A call's own usage: the entries from `usageStart[call]` to before `usageStart[call + 1]`. */
  readonly usageStart: Int32Array;
  readonly usage: UsageEntries;
}

export function idOf(calls: CallTable, call: number): string {
  return calls.source.toString("utf8", calls.idStart[call], calls.idEnd[call]);
}

export function isFinished(calls: CallTable, call: number): boolean {
  return (calls.flags[call]! & FINISHED) !== 0;
}

export function isSelected(calls: CallTable, call: number): boolean {
  return (calls.flags[call]! & SELECTED) !== 0;
}

export function inclusiveOf(calls: CallTable, call: number): Inclusive {
  return INCLUSIVE[calls.flags[call]! >> INCLUSIVE_SHIFT] ?? false;
}

export function withSelected(flags: number, selected: boolean): number {
  return selected ? flags | SELECTED : flags & ~SELECTED;
}
