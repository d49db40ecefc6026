import { placeOf, type CallTree } from "./call-tree.ts";
import { textAt } from "./text-column.ts";

export interface Matches {
  readonly count: number;
  readonly has: (place: number) => boolean;
}

/** The calls of that id, or with that in their name, in capitals or not. An empty text is in none. */
export function matchesIn(tree: CallTree, find: string): Matches {
  if (find === "") return { count: 0, has: () => false };
  const wanted = find.toLowerCase();
  const { texts, of } = tree.names;
  const isNamedSo = Uint8Array.from(texts.ends, (_, which) =>
    Number(textAt(texts, which).toLowerCase().includes(wanted)),
  );
  const called = placeOf(tree, find);
  const has = (place: number): boolean => place === called || isNamedSo[of[place]!] === 1;
  return { count: of.reduce((count, _, place) => count + Number(has(place)), 0), has };
}
