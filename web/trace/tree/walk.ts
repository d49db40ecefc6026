import { countOf, type CallTree } from "./call-tree.ts";
import type { TreeUsage } from "./tree-usage.ts";
import { isGroup, lineOfGroup, type Rows } from "./rows.ts";
import { membersOf } from "./groups.ts";
import { NOT_FOUND } from "./text-index.ts";

/** The next matching call after a position, continuing at the top after the last; `NOWHERE`: none matches. */
export function nextOf(tree: CallTree, position: number, isWanted: (position: number) => boolean): number {
  const count = countOf(tree);
  for (let step = 1; step <= count; step++) {
    const next = (position + step) % count;
    if (isWanted(next)) return next;
  }
  return NOT_FOUND;
}

/** The call with the largest own cost among these and everything below them; `NOT_FOUND`: none has a cost. */
export function costliestCall(tree: CallTree, tops: Iterable<number>, treeUsage: TreeUsage): number {
  let [costliest, most] = [NOT_FOUND, 0];
  for (const top of tops) {
    for (let position = top; position < top + tree.calls[top]!; position++) {
      const usd = treeUsage.own(position).usd ?? 0;
      if (usd > most) [costliest, most] = [position, usd];
    }
  }
  return costliest;
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

/** The call of a row; of a group, the first. `NOWHERE`: there is no such row. */
export function positionOfRow(tree: CallTree, { lines }: Rows, index: number): number {
  const line = lines[index];
  if (line === undefined) return NOT_FOUND;
  return isGroup(line) ? membersOf(tree.groups, lineOfGroup(line))[0]! : line;
}
