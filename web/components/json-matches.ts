/** Paths of a text's occurrences in a JSON value. */
export interface JsonMatches {
  readonly count: number;
  /** There were too many values to look at all of them. */
  readonly isCut: boolean;
  /** A name has it. */
  isIn(name: string): boolean;
  /** A member, or something below it, has it. */
  has(name: string, value: unknown): boolean;
}

const MAX_VALUES = 200_000;

/** In names and in values, ignoring case. */
export function matchesOf(value: unknown, find: string): JsonMatches {
  const wanted = find.toLowerCase();
  const isIn = (text: string): boolean => text.toLowerCase().includes(wanted);
  const isScalarIn = (one: unknown): boolean => isIn(typeof one === "string" ? one : String(one));
  /** Objects and lists that lead to a match. */
  const leading = new Set<unknown>();
  let [count, seen] = [0, 0];
  // not by recursion: a payload can be deeper than the stack
  const stack: { readonly value: unknown; readonly parent: number }[] = [{ value, parent: -1 }];
  const parents: unknown[] = [];
  const parentOf: number[] = [];
  const mark = (at: number): void => {
    for (let one = at; one >= 0 && !leading.has(parents[one]); one = parentOf[one]!)
      leading.add(parents[one]);
  };
  while (stack.length > 0 && seen < MAX_VALUES) {
    const { value: one, parent } = stack.pop()!;
    seen++;
    if (typeof one !== "object" || one === null) {
      if (!isScalarIn(one)) continue;
      count++;
      mark(parent);
      continue;
    }
    const at = parents.push(one) - 1;
    parentOf.push(parent);
    for (const [name, inner] of Object.entries(one)) {
      if (!Array.isArray(one) && isIn(name)) {
        count++;
        mark(at);
      }
      stack.push({ value: inner, parent: at });
    }
  }
  return {
    count,
    isCut: stack.length > 0,
    isIn,
    has: (name, inner) =>
      isIn(name) || (typeof inner === "object" && inner !== null ? leading.has(inner) : isScalarIn(inner)),
  };
}
