import { parseJsonText } from "../../shared/escaped-keys.ts";
import { isJsonObject } from "../../shared/json.ts";

/** Parses an attribute's value, text or JSON, to an object; `undefined` if it is none. */
export function documentIn(value: unknown): Readonly<Record<string, unknown>> | undefined {
  const document = typeof value === "string" ? parseOrUndefined(value) : value;
  return isJsonObject(document) ? document : undefined;
}

function parseOrUndefined(text: string): unknown {
  try {
    return parseJsonText(text);
  } catch {
    return undefined;
  }
}
