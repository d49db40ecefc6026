import { callAt, childrenOf, countOf, idAt, positionOf, type CallTree, type TreeCall } from "./call-tree.ts";
import { groupKey, groupOfKey, type Opened } from "./expanded-state.ts";
import { membersOf } from "./groups.ts";
import { knownTextAt } from "./text-column.ts";
import { NOT_FOUND } from "./text-index.ts";

/** The lines of the tree that folding does not hide, from top to bottom. */
export interface Rows {
  /** The position of a call; of a group, what `lineOfGroup` makes of it. */
  readonly lines: Int32Array;
  readonly depths: Uint32Array;
}

/** A line in sight: a call, or a group of like siblings. */
export type Row =
  | {
      readonly kind: "call";
      readonly key: string;
      readonly depth: number;
      /** Undefined: it has nothing below. */
      readonly open: boolean | undefined;
      readonly call: TreeCall;
    }
  | {
      readonly kind: "group";
      readonly key: string;
      readonly depth: number;
      readonly open: boolean;
      readonly group: RowGroup;
    };

export interface RowGroup {
  readonly position: number;
  readonly name: string;
  readonly members: Uint32Array;
  /** Failed calls: members, and calls below them. */
  readonly failed: number;
  readonly running: boolean;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Its own inverse. */
export function lineOfGroup(group: number): number {
  return -1 - group;
}

export function isGroup(line: number): boolean {
  return line < 0;
}

export function rowsOf(tree: CallTree, opened: Opened): Rows {
  const most = countOf(tree) + tree.groups.ends.length;
  const [lines, depths] = [new Int32Array(most), new Uint32Array(most)];
  // a stack of what comes next, and in how many open groups it is
  const [stack, indents] = [new Int32Array(most), new Uint32Array(most)];
  let [count, height] = [0, 0];
  const push = (next: Iterable<number>, indent: number): void => {
    const from = height;
    for (const line of next) {
      indents[height] = indent;
      stack[height++] = line;
    }
    stack.subarray(from, height).reverse();
  };
  push(linesBelow(tree, NOT_FOUND), 0);
  while (height > 0) {
    const line = stack[--height]!;
    const indent = indents[height]!;
    const group = lineOfGroup(line);
    const members = isGroup(line) ? membersOf(tree.groups, group) : undefined;
    lines[count] = line;
    depths[count++] = tree.depths[members === undefined ? line : members[0]!]! + indent;
    if (members !== undefined) push(opened.group(group) ? members : [], indent + 1);
    else if (tree.calls[line]! > 1 && opened.call(line)) push(linesBelow(tree, line), indent);
  }
  return { lines: lines.subarray(0, count), depths: depths.subarray(0, count) };
}

/** The children, with like siblings as one group in the place of the first. */
function* linesBelow(tree: CallTree, parent: number): Generator<number, undefined> {
  for (const position of childrenOf(tree, parent)) {
    const group = tree.groups.ofCalls[position]!;
    if (group === NOT_FOUND) yield position;
    else if (membersOf(tree.groups, group)[0] === position) yield lineOfGroup(group);
  }
}

export function rowAt(
  tree: CallTree,
  { lines, depths }: Rows,
  opened: Opened,
  index: number,
): Row | undefined {
  const [line, depth] = [lines[index], depths[index]];
  if (line === undefined || depth === undefined) return undefined;
  if (!isGroup(line)) {
    const call = callAt(tree, line);
    const open = call.calls === 1 ? undefined : opened.call(line);
    return { kind: "call", key: call.id, depth, open, call };
  }
  const group = lineOfGroup(line);
  return {
    kind: "group",
    key: groupKey(tree, group),
    depth,
    open: opened.group(group),
    group: groupAt(tree, group),
  };
}

function groupAt(tree: CallTree, position: number): RowGroup {
  const { failed, running, fromMs, toMs } = tree.groups;
  const members = membersOf(tree.groups, position);
  return {
    position,
    name: knownTextAt(tree.names, members[0]!) ?? "",
    members,
    failed: failed[position]!,
    running: running[position] === 1,
    fromMs: fromMs[position]!,
    toMs: toMs[position]!,
  };
}

export function keyAt(tree: CallTree, { lines }: Rows, index: number): string | undefined {
  const line = lines[index];
  if (line === undefined) return undefined;
  return isGroup(line) ? groupKey(tree, lineOfGroup(line)) : idAt(tree, line);
}

/** -1: there is no such line, or it is hidden. */
export function indexOfKey(tree: CallTree, { lines }: Rows, key: string | undefined): number {
  if (key === undefined) return -1;
  const group = groupOfKey(tree, key);
  if (group !== NOT_FOUND) return lines.indexOf(lineOfGroup(group));
  const position = positionOf(tree, key);
  return position === NOT_FOUND ? -1 : lines.indexOf(position);
}
