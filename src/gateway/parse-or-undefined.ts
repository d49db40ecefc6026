import { parseJsonText } from "../shared/escaped-keys.ts";

/** The value of a text that may not be JSON. */
export function parseOrUndefined(text: string): unknown {
  try {
    return parseJsonText(text);
  } catch {
    return undefined;
  }
}
