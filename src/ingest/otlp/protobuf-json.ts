import type { JsonValue } from "@bufbuild/protobuf";
import { isJsonObject, stringifyJson } from "../../shared/json.ts";

/** Thrown if a message has too many objects and lists. */
export class TooManyItems extends Error {}

const IDS: ReadonlySet<string> = new Set(["traceId", "spanId", "parentSpanId"]);

/**
 * Converts OTLP's JSON to protobuf's: ids from hex to base64, and long numbers to text, to keep their digits. Half a surrogate
 * pair, as at the end of truncated text, becomes U+FFFD. The value must not be too deep. Errors: `TooManyItems`.
 * Source: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
 */
export function toProtobufJson(value: unknown, maxItems: number): JsonValue {
  let items = 0;
  const convert = (node: unknown): JsonValue => {
    const isList = Array.isArray(node);
    if (typeof node === "string") return node.toWellFormed();
    if (!isList && !isJsonObject(node))
      return typeof node === "object" ? stringifyNumber(node) : (node as JsonValue);
    items += 1;
    if (items > maxItems) throw new TooManyItems();
    if (isList) return node.map(convert);
    return Object.fromEntries(Object.entries(node).map(([key, child]) => member(key, child)));
  };
  const member = (key: string, child: unknown): [string, JsonValue] => {
    if (IDS.has(key))
      return [key, typeof child === "string" ? Buffer.from(child, "hex").toString("base64") : ""];
    // JavaScript exporters send every whole number as an integer
    if (key === "intValue" && typeof child === "number" && !Number.isSafeInteger(child))
      return ["doubleValue", child];
    return [key, convert(child)];
  };
  return convert(value);
}

/** Converts an exact integer to text; keeps null. */
function stringifyNumber(node: object | null): JsonValue {
  return node === null ? null : stringifyJson(node);
}
