import {
  knownTextAt,
  NOT_FOUND,
  positionOfText,
  textAt,
  type DictionaryColumn,
  type TextColumn,
  type TextIndex,
} from "./text-column.ts";

/**
 * The calls of a trace in the order of their tree: everything below a call comes right after it. One array for each value
 * of a call, because a hundred thousand objects would stop the page whenever memory is collected.
 */
export interface CallTree {
  readonly ids: TextColumn;
  readonly idIndex: TextIndex;
  readonly names: DictionaryColumn;
  readonly exceptions: DictionaryColumn;
  readonly startMs: Float64Array<ArrayBuffer>;
  /** NaN: it still runs. */
  readonly endMs: Float64Array<ArrayBuffer>;
  /** `NOT_FOUND`: it is a root. */
  readonly parents: Int32Array<ArrayBuffer>;
  /** Usage of the call and its descendants. */
  readonly calls: Uint32Array<ArrayBuffer>;
  readonly errors: Uint32Array<ArrayBuffer>;
  readonly groups: Groups;
}

/** Like siblings, in numbered groups. */
export interface Groups {
  /** The group of each call; `NOT_FOUND`: it is in none. */
  readonly ofCalls: Int32Array<ArrayBuffer>;
  /** The members of all groups, one group after another. */
  readonly members: Uint32Array<ArrayBuffer>;
  readonly ends: Uint32Array<ArrayBuffer>;
  /** Failed calls: members, and calls below them. */
  readonly failed: Uint32Array<ArrayBuffer>;
  /** NaN: one of them still runs. */
  readonly endMs: Float64Array<ArrayBuffer>;
}

/** Columns of a call in the tree; the rest is read when it is opened. */
export interface TraceCall {
  readonly id: string;
  readonly parentId: string | null;
  readonly name: string;
  readonly startMs: number;
  /** Null: it still runs. */
  readonly endMs: number | null;
  /** How it begins. */
  readonly exception: string | null;
}

/** One call of the tree, as a row and the details show it. */
export interface TreeCall extends Omit<TraceCall, "parentId"> {
  readonly position: number;
  /** Usage of itself and its descendants. */
  readonly calls: number;
  readonly errors: number;
}

export function callAt(tree: CallTree, position: number): TreeCall {
  const endMs = tree.endMs[position]!;
  return {
    position,
    id: idAt(tree, position),
    name: knownTextAt(tree.names, position) ?? "",
    startMs: tree.startMs[position]!,
    endMs: Number.isNaN(endMs) ? null : endMs,
    exception: knownTextAt(tree.exceptions, position),
    calls: tree.calls[position]!,
    errors: tree.errors[position]!,
  };
}

export function countOf({ calls }: Pick<CallTree, "calls">): number {
  return calls.length;
}

export function idAt({ ids }: CallTree, position: number): string {
  return textAt(ids, position);
}

/** `NOT_FOUND`: there is no such call. */
export function positionOf({ ids, idIndex }: CallTree, id: string): number {
  return positionOfText(idIndex, ids, id);
}

export function hasFailed({ exceptions }: Pick<CallTree, "exceptions">, position: number): boolean {
  return exceptions.of[position]! >= 0;
}

/** The children of a call, or the roots, oldest first. */
export function* childrenOf(tree: Pick<CallTree, "calls">, parent: number): Generator<number, undefined> {
  const end = parent === NOT_FOUND ? countOf(tree) : parent + tree.calls[parent]!;
  for (let position = parent + 1; position < end; position += tree.calls[position]!) yield position;
}

/** When the trace begins and ends; running calls last until now. */
export function extentOf(
  { startMs, endMs }: Pick<CallTree, "startMs" | "endMs">,
  now: number,
): { readonly fromMs: number; readonly toMs: number } {
  let [fromMs, toMs] = [Infinity, -Infinity];
  for (let position = 0; position < startMs.length; position++) {
    const [start, end] = [startMs[position]!, endMs[position]!];
    fromMs = Math.min(fromMs, start);
    toMs = Math.max(toMs, Number.isNaN(end) ? now : end, start);
  }
  return fromMs <= toMs ? { fromMs, toMs } : { fromMs: now, toMs: now };
}
