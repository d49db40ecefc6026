import { childrenOf, countOf, type CallTree } from "./call-tree.ts";
import type { TreeUsage } from "./tree-usage.ts";
import { isGroup, lineOfGroup, type Rows } from "./rows.ts";
import { membersOf } from "./groups.ts";
import { NOWHERE } from "./text-index.ts";

/** The next call after that place, from the top again after the last, that is what is looked for; `NOWHERE`: none is. */
export function nextOf(tree: CallTree, place: number, isWanted: (place: number) => boolean): number {
  const count = countOf(tree);
  for (let step = 1; step <= count; step++) {
    const next = (place + step) % count;
    if (isWanted(next)) return next;
  }
  return NOWHERE;
}

/** From a call down to the one call below it that made the bill: always to the dearest child, while it is dearer than its parent alone. */
export function dearestBelow(tree: CallTree, start: number, treeUsage: TreeUsage): number {
  const cost = (place: number): number => treeUsage.total(place).usd ?? 0;
  let at = start;
  for (;;) {
    let [dearest, most] = [NOWHERE, 0];
    for (const child of childrenOf(tree, at)) {
      const usd = cost(child);
      if (usd > most) [dearest, most] = [child, usd];
    }
    if (dearest === NOWHERE || most < (treeUsage.own(at).usd ?? 0)) return at;
    at = dearest;
  }
}

/** Where right leads from a row that is open: to the first below it. Where left leads from one that is not: to what it hangs on. */
export function rowBelow({ depths }: Rows, index: number): number {
  return (depths[index + 1] ?? 0) > (depths[index] ?? 0) ? index + 1 : index;
}

export function rowAbove({ depths }: Rows, index: number): number {
  const depth = depths[index] ?? 0;
  for (let at = index - 1; at >= 0; at--) if (depths[at]! < depth) return at;
  return index;
}

/** The call of a row; of a group, the first. `NOWHERE`: there is no such row. */
export function placeOfRow(tree: CallTree, { lines }: Rows, index: number): number {
  const line = lines[index];
  if (line === undefined) return NOWHERE;
  return isGroup(line) ? membersOf(tree.groups, lineOfGroup(line))[0]! : line;
}
