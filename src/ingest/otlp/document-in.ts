import { parseJsonText } from "../../shared/escaped-keys.ts";
import { isJsonObject } from "../../shared/json.ts";

/** The JSON object in an attribute, as text or as a value. */
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
