import { knownTextAt, textAt, type KnownTexts, type TextColumn } from "./text-column.ts";
import { NOWHERE, placeOfText, type TextIndex } from "./text-index.ts";

/**
 * The calls of a trace in the order of their tree: all that lies below a call comes right after it. One array for each thing
 * that is known of them, because a hundred thousand objects would stop the page whenever memory is collected.
 */
export interface CallTree {
  readonly ids: TextColumn;
  readonly idIndex: TextIndex;
  readonly names: KnownTexts;
  readonly exceptions: KnownTexts;
  readonly startMs: Float64Array<ArrayBuffer>;
  /** NaN: it still runs. */
  readonly endMs: Float64Array<ArrayBuffer>;
  /** `NOWHERE`: it is a root. */
  readonly parents: Int32Array<ArrayBuffer>;
  readonly depths: Uint32Array<ArrayBuffer>;
  /** Of the call and all below it. */
  readonly calls: Uint32Array<ArrayBuffer>;
  readonly errors: Uint32Array<ArrayBuffer>;
  readonly groups: Groups;
}

/** Like siblings, each such group at a place of its own. */
export interface Groups {
  /** The group of each call; `NOWHERE`: it is in none. */
  readonly ofCalls: Int32Array<ArrayBuffer>;
  /** The calls of the groups, one group after the other. */
  readonly members: Uint32Array<ArrayBuffer>;
  readonly ends: Uint32Array<ArrayBuffer>;
  /** Of the members themselves. */
  readonly failed: Uint32Array<ArrayBuffer>;
  readonly running: Uint8Array<ArrayBuffer>;
  readonly fromMs: Float64Array<ArrayBuffer>;
  readonly toMs: Float64Array<ArrayBuffer>;
}

/** One call of the tree, as a row and the details show it. */
export interface TreeCall {
  readonly place: number;
  readonly id: string;
  readonly name: string;
  readonly startMs: number;
  /** Null: it still runs. */
  readonly endMs: number | null;
  /** How it begins. */
  readonly exception: string | null;
  /** Of itself and all below it. */
  readonly calls: number;
  readonly errors: number;
}

export function callAt(tree: CallTree, place: number): TreeCall {
  const endMs = tree.endMs[place]!;
  return {
    place,
    id: idAt(tree, place),
    name: knownTextAt(tree.names, place) ?? "",
    startMs: tree.startMs[place]!,
    endMs: Number.isNaN(endMs) ? null : endMs,
    exception: knownTextAt(tree.exceptions, place),
    calls: tree.calls[place]!,
    errors: tree.errors[place]!,
  };
}

export function countOf({ calls }: Pick<CallTree, "calls">): number {
  return calls.length;
}

export function idAt({ ids }: CallTree, place: number): string {
  return textAt(ids, place);
}

/** `NOWHERE`: there is no such call. */
export function placeOf({ ids, idIndex }: CallTree, id: string): number {
  return placeOfText(idIndex, ids, id);
}

export function hasFailed({ exceptions }: Pick<CallTree, "exceptions">, place: number): boolean {
  return exceptions.of[place]! >= 0;
}

/** What hangs on a call, or on nothing, oldest first. */
export function* childrenOf(tree: Pick<CallTree, "calls">, parent: number): Generator<number, undefined> {
  const end = parent === NOWHERE ? countOf(tree) : parent + tree.calls[parent]!;
  for (let place = parent + 1; place < end; place += tree.calls[place]!) yield place;
}

/** From where the trace begins to where it ends; what still runs goes on until now. */
export function extentOf(
  { startMs, endMs }: Pick<CallTree, "startMs" | "endMs">,
  now: number,
): { readonly fromMs: number; readonly toMs: number } {
  let [fromMs, toMs] = [Infinity, -Infinity];
  for (let place = 0; place < startMs.length; place++) {
    const [start, end] = [startMs[place]!, endMs[place]!];
    fromMs = Math.min(fromMs, start);
    toMs = Math.max(toMs, Number.isNaN(end) ? now : end, start);
  }
  return fromMs <= toMs ? { fromMs, toMs } : { fromMs: now, toMs: now };
}
