import { countOf, positionOf, type CallTree } from "./call-tree.ts";
import { NOT_FOUND, textAt } from "./text-column.ts";
import type { TreeUsage } from "./tree-usage.ts";

export interface Matches {
  readonly count: number;
  readonly has: (position: number) => boolean;
}

/** The calls with this id, or with this text in their name, ignoring case. An empty text matches none. */
export function matchesIn(tree: CallTree, find: string): Matches {
  if (find === "") return { count: 0, has: () => false };
  const wanted = find.toLowerCase();
  const { texts, of } = tree.names;
  const isNamedSo = Uint8Array.from(texts.ends, (_, which) =>
    Number(textAt(texts, which).toLowerCase().includes(wanted)),
  );
  const called = positionOf(tree, find);
  const has = (position: number): boolean => position === called || isNamedSo[of[position]!] === 1;
  return { count: of.reduce((count, _, position) => count + Number(has(position)), 0), has };
}

/** The next matching call after a position, continuing at the top after the last; `NOT_FOUND`: none matches. */
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
