import { positionOf, type CallTree } from "./call-tree.ts";
import { textAt } from "./text-column.ts";

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
