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

interface Place {
  readonly value: unknown;
  readonly above: Place | undefined;
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
  const stack: Place[] = [{ value, above: undefined }];
  const mark = (place: Place | undefined): void => {
    count++;
    for (let at = place; at !== undefined && !leading.has(at.value); at = at.above) leading.add(at.value);
  };
  while (stack.length > 0 && seen++ < MAX_VALUES) {
    const place = stack.pop()!;
    const { value: one, above } = place;
    if (typeof one !== "object" || one === null) {
      if (isScalarIn(one)) mark(above);
      continue;
    }
    for (const [name, inner] of Object.entries(one)) {
      if (!Array.isArray(one) && isIn(name)) mark(place);
      stack.push({ value: inner, above: place });
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
