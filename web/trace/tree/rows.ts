import { callAt, childrenOf, countOf, idAt, positionOf, type CallTree, type TreeCall } from "./call-tree.ts";
import { membersOf } from "./groups.ts";
import { knownTextAt, NOT_FOUND } from "./text-column.ts";

/** Open rows: calls by default, groups not; `changed` has the keys of the exceptions. */
export interface ExpandedState {
  readonly changed: ReadonlySet<string>;
  /** Groups are open by default, too. */
  readonly groupsOpen: boolean;
}

/** The lines of the tree that folding does not hide, from top to bottom. */
export interface Rows {
  /** The position of a call; of a group, what `lineOfGroup` makes of it. */
  readonly lines: Int32Array;
  readonly depths: Uint32Array;
  readonly isOpen: (line: number) => boolean;
}

/** A line in sight: a call, or a group of like siblings. */
export interface Row {
  readonly key: string;
  readonly depth: number;
  /** Undefined: it has nothing below. */
  readonly open: boolean | undefined;
  /** Of a group, the first. */
  readonly call: TreeCall;
  readonly group: RowGroup | undefined;
}

/** A part of the time of a trace. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** When a row ran; of a call that runs, up to the end of the trace. */
export function spanOf({ call, group }: Row, whole: Span): Span {
  return { fromMs: call.startMs, toMs: Math.max(call.startMs + 1, (group ?? call).endMs ?? whole.toMs) };
}

interface RowGroup {
  readonly position: number;
  readonly members: Uint32Array;
  /** Failed calls: members, and calls below them. */
  readonly failed: number;
  /** Null: one of them still runs. */
  readonly endMs: number | null;
}

/** Its own inverse. */
function lineOfGroup(group: number): number {
  return -1 - group;
}

function isGroup(line: number): boolean {
  return line < 0;
}

/** The call of a line; of a group, the first. */
function firstOf({ groups }: CallTree, line: number): number {
  return isGroup(line) ? membersOf(groups, lineOfGroup(line))[0]! : line;
}

function keyOf(tree: CallTree, line: number): string {
  const first = firstOf(tree, line);
  if (!isGroup(line)) return idAt(tree, first);
  const parent = tree.parents[first]!;
  return `${parent === NOT_FOUND ? "" : idAt(tree, parent)}\n${knownTextAt(tree.names, first) ?? ""}`;
}

/** Undefined: the trace has no such line. */
function lineOf(tree: CallTree, key: string): number | undefined {
  const end = key.lastIndexOf("\n");
  const [id, name] = [key.slice(0, Math.max(0, end)), key.slice(end + 1)];
  const parent = end > 0 ? positionOf(tree, id) : NOT_FOUND;
  if (end === 0 || parent !== NOT_FOUND) {
    const alike = childrenOf(tree, parent).find((position) => knownTextAt(tree.names, position) === name);
    const group = alike === undefined ? NOT_FOUND : tree.groups.ofCalls[alike]!;
    if (group !== NOT_FOUND) return lineOfGroup(group);
  }
  const position = positionOf(tree, key);
  return position === NOT_FOUND ? undefined : position;
}

export function rowsOf(tree: CallTree, { changed, groupsOpen }: ExpandedState): Rows {
  const toggled = new Set([...changed].map((key) => lineOf(tree, key)));
  const isOpen = (line: number): boolean => (groupsOpen || !isGroup(line)) !== toggled.has(line);
  const most = countOf(tree) + tree.groups.ends.length;
  const [lines, depths] = [new Int32Array(most), new Uint32Array(most)];
  // a stack of what comes next, and how deep it is
  const [stack, deep] = [new Int32Array(most), new Uint32Array(most)];
  let [count, height] = [0, 0];
  const push = (next: Iterable<number>, depth: number): void => {
    const from = height;
    for (const line of next) {
      deep[height] = depth;
      stack[height++] = line;
    }
    stack.subarray(from, height).reverse();
  };
  push(linesBelow(tree, NOT_FOUND), 0);
  while (height > 0) {
    const [line, depth] = [stack[--height]!, deep[height]!];
    lines[count] = line;
    depths[count++] = depth;
    if (!isOpen(line)) continue;
    if (isGroup(line)) push(membersOf(tree.groups, lineOfGroup(line)), depth + 1);
    else push(linesBelow(tree, line), depth + 1);
  }
  return { lines: lines.subarray(0, count), depths: depths.subarray(0, count), isOpen };
}

/** The children, with like siblings as one group in the place of the first. */
function* linesBelow(tree: CallTree, parent: number): Generator<number, undefined> {
  for (const position of childrenOf(tree, parent)) {
    const group = tree.groups.ofCalls[position]!;
    if (group === NOT_FOUND) yield position;
    else if (membersOf(tree.groups, group)[0] === position) yield lineOfGroup(group);
  }
}

export function rowAt(tree: CallTree, { lines, depths, isOpen }: Rows, index: number): Row | undefined {
  const [line, depth] = [lines[index], depths[index]];
  if (line === undefined || depth === undefined) return undefined;
  const call = callAt(tree, firstOf(tree, line));
  const group = isGroup(line) ? groupAt(tree, lineOfGroup(line)) : undefined;
  const open = group === undefined && call.calls === 1 ? undefined : isOpen(line);
  return { key: keyOf(tree, line), depth, open, call, group };
}

function groupAt({ groups }: CallTree, position: number): RowGroup {
  const endMs = groups.endMs[position]!;
  return {
    position,
    members: membersOf(groups, position),
    failed: groups.failed[position]!,
    endMs: Number.isNaN(endMs) ? null : endMs,
  };
}

/** -1: there is no such line, or it is hidden. */
export function indexOfKey(tree: CallTree, { lines }: Rows, key: string | undefined): number {
  const line = key === undefined ? undefined : lineOf(tree, key);
  return line === undefined ? -1 : lines.indexOf(line);
}

/** Exceptions of the folding that shows a call: its ancestors and their groups are open. */
export function openedFor(
  tree: CallTree,
  position: number,
  { changed, groupsOpen }: ExpandedState,
): ReadonlySet<string> {
  const opened = new Set(changed);
  for (let at = position; at !== NOT_FOUND; at = tree.parents[at]!) {
    if (at !== position) opened.delete(idAt(tree, at));
    const group = tree.groups.ofCalls[at]!;
    if (group === NOT_FOUND) continue;
    const key = keyOf(tree, lineOfGroup(group));
    if (groupsOpen) opened.delete(key);
    else opened.add(key);
  }
  return opened;
}

/** Target of arrow keys: right from an open row to its first child, left from a closed one to its parent. */
export function rowBelow({ depths }: Rows, index: number): number {
  return (depths[index + 1] ?? 0) > (depths[index] ?? 0) ? index + 1 : index;
}

export function rowAbove({ depths }: Rows, index: number): number {
  const depth = depths[index] ?? 0;
  for (let at = index - 1; at >= 0; at--) if (depths[at]! < depth) return at;
  return index;
}
