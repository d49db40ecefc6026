import { endOfString } from "./outside-strings.ts";

/** A member of an object: its key and its value, as they are written. */
export type Member = readonly [key: string, value: string];

/**
 * The members of an object in its canonical text (`stringifyJson`), without making objects of them: a text of a megabyte
 * would be a hundred megabytes of those. Cost: linear.
 */
export function membersOf(text: string): readonly Member[] {
  const members: Member[] = [];
  for (let at = 1; text[at] === '"'; at++) {
    const keyEnd = endOfString(text, at);
    const end = endOfValue(text, keyEnd + 1);
    members.push([text.slice(at, keyEnd), text.slice(keyEnd + 1, end)]);
    at = end;
  }
  return members;
}

export function objectOf(members: readonly Member[]): string {
  return `{${members.map(([key, value]) => `${key}:${value}`).join()}}`;
}

const MARK = /["[\]{},]/g;

/** Returns the index of the comma or bracket after a value, or that of the end of a text that is cut within it. Cost: linear. */
export function endOfValue(text: string, from: number): number {
  let depth = 0;
  for (let at = from; ;) {
    MARK.lastIndex = at;
    const found = MARK.exec(text);
    if (found === null) return text.length;
    const [mark] = found;
    at = found.index + 1;
    if (mark === '"') {
      at = endOfString(text, found.index);
      if (at === -1) return text.length;
    } else if (mark === "[" || mark === "{") depth++;
    else if (mark !== ",") depth--;
    if (depth < 0 || (depth === 0 && mark === ",")) return found.index;
  }
}
