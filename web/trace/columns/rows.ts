import { callAt, childrenOf, countOf, idAt, placeOf, type CallTree, type TreeCall } from "./call-tree.ts";
import { groupKey, groupOfKey, type Opened } from "./folding.ts";
import { membersOf } from "./groups.ts";
import { knownTextAt } from "./text-column.ts";
import { NOWHERE } from "./text-index.ts";

/** The lines of the tree that nothing but folding hides, from top to bottom. */
export interface Rows {
  /** The place of a call; of a group, what `lineOfGroup` makes of it. */
  readonly lines: Int32Array;
  readonly depths: Uint32Array;
}

/** A line that somebody looks at: a call, or like siblings in one. */
export type Row =
  | {
      readonly kind: "call";
      readonly key: string;
      readonly depth: number;
      /** Undefined: there is nothing to open. */
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
  readonly place: number;
  readonly name: string;
  readonly members: Uint32Array;
  /** Of the members themselves. */
  readonly failed: number;
  readonly running: boolean;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Also the way back. */
export function lineOfGroup(group: number): number {
  return -1 - group;
}

export function isGroup(line: number): boolean {
  return line < 0;
}

export function rowsOf(tree: CallTree, opened: Opened): Rows {
  const most = countOf(tree) + tree.groups.ends.length;
  const [lines, depths] = [new Int32Array(most), new Uint32Array(most)];
  // what comes next is on top; with it, how many open groups it is in
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
  push(linesBelow(tree, NOWHERE), 0);
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

/** Like siblings together, where the first of them is. */
function* linesBelow(tree: CallTree, parent: number): Generator<number, undefined> {
  for (const place of childrenOf(tree, parent)) {
    const group = tree.groups.ofCalls[place]!;
    if (group === NOWHERE) yield place;
    else if (membersOf(tree.groups, group)[0] === place) yield lineOfGroup(group);
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

function groupAt(tree: CallTree, place: number): RowGroup {
  const { failed, running, fromMs, toMs } = tree.groups;
  const members = membersOf(tree.groups, place);
  return {
    place,
    name: knownTextAt(tree.names, members[0]!) ?? "",
    members,
    failed: failed[place]!,
    running: running[place] === 1,
    fromMs: fromMs[place]!,
    toMs: toMs[place]!,
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
  if (group !== NOWHERE) return lines.indexOf(lineOfGroup(group));
  const place = placeOf(tree, key);
  return place === NOWHERE ? -1 : lines.indexOf(place);
}
