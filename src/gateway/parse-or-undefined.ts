import { parseJsonText } from "../shared/escaped-keys.ts";
import { outsideStrings } from "../shared/outside-strings.ts";

const NOT_FINITE = /-?Infinity|NaN/g;

/** Parses JSON; returns `undefined` on a syntax error. Python's bare `NaN` and `±Infinity` become null. */
export function parseOrUndefined(text: string): unknown {
  const value = parsed(text);
  if (value !== undefined || text.search(NOT_FINITE) === -1) return value;
  return parsed(outsideStrings(text, (piece) => piece.replace(NOT_FINITE, "null")));
}

function parsed(text: string): unknown {
  try {
    return parseJsonText(text);
  } catch {
    return undefined;
  }
}
