import { isJsonObject } from "../../shared/json.ts";

/** Characters of a preview, as Unicode code points. */
export const PREVIEW_CHARACTERS = 200;

/** Returns the first non-empty string of a JSON value in document order; '' if there is none. Any depth. */
export function firstText(value: unknown): string {
  const open: Iterator<unknown>[] = [[value].values()];
  for (let inner = open.at(-1); inner !== undefined; inner = open.at(-1)) {
    const { done, value: next } = inner.next();
    if (done === true) open.pop();
    else if (typeof next === "string" && next !== "") return next;
    else if (Array.isArray(next)) open.push(next.values());
    else if (isJsonObject(next)) open.push(Object.values(next).values());
  }
  return "";
}

/** Cuts a text to a preview, null if it is empty. The copy does not keep the text in memory, as a slice would. */
export function previewOf(text: string): string | null {
  // a code point has at most two UTF-16 units
  const characters = Array.from(text.slice(0, 2 * PREVIEW_CHARACTERS));
  return text === "" ? null : characters.slice(0, PREVIEW_CHARACTERS).join("");
}
