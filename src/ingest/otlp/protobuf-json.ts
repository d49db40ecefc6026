import type { JsonValue } from "@bufbuild/protobuf";
import { isJsonObject, MAX_JSON_DEPTH, stringifyJson } from "../../shared/json.ts";

/** Thrown if a message has too many objects and lists. */
export class TooManyItems extends Error {}

const IDS: ReadonlySet<string> = new Set(["traceId", "spanId", "parentSpanId"]);
const DOUBLES: ReadonlyMap<string, string> = new Map([
  ["intValue", "doubleValue"],
  ["asInt", "asDouble"],
]);

/**
 * Converts OTLP's JSON to protobuf's: ids from hex to base64, and long numbers to text, to keep their digits. Half a surrogate
 * pair, as at the end of truncated text, becomes U+FFFD. Data points are left out. Errors: `TooManyItems`; `RangeError`, if the
 * value is too deep.
 * Source: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
 */
export function toProtobufJson(value: unknown, maxItems: number): JsonValue {
  let items = 0;
  const convert = (node: unknown, levelsLeft: number): JsonValue => {
    const isList = Array.isArray(node);
    if (typeof node === "string") return node.toWellFormed();
    if (!isList && !isJsonObject(node))
      return typeof node === "object" ? stringifyNumber(node) : (node as JsonValue);
    items += 1;
    if (items > maxItems) throw new TooManyItems();
    if (levelsLeft === 0) throw new RangeError("nested too deep");
    if (isList) return node.map((child) => convert(child, levelsLeft - 1));
    return Object.fromEntries(Object.entries(node).map(([key, child]) => member(key, child, levelsLeft - 1)));
  };
  const member = (key: string, child: unknown, levelsLeft: number): [string, JsonValue] => {
    if (IDS.has(key))
      return [key, typeof child === "string" ? Buffer.from(child, "hex").toString("base64") : ""];
    // JavaScript exporters send every whole number as an integer
    const double = DOUBLES.get(key);
    if (double !== undefined && typeof child === "number" && !Number.isSafeInteger(child))
      return [double, child];
    if (key === "dataPoints" && Array.isArray(child)) return [key, []];
    return [key, convert(child, levelsLeft)];
  };
  return convert(value, MAX_JSON_DEPTH);
}

/** Converts an exact integer to text; keeps null. */
function stringifyNumber(node: object | null): JsonValue {
  return node === null ? null : stringifyJson(node);
}
