import { assertNever } from "../../shared/assert-never.ts";
import { parseJson } from "../../shared/json.ts";
import type { AnyValue, KeyValue } from "./otlp_pb.ts";

/** Attributes of a span, a resource or an event by their dotted keys; the last of equal keys wins. */
export type Attributes = ReadonlyMap<string, unknown>;

export function readAttributes(attributes: readonly KeyValue[]): Attributes {
  return new Map(attributes.map(({ key, value }) => [key, plainValue(value)]));
}

/** Converts a value to JSON: bytes to base64, integers exactly. The decoder limits its depth. */
export function plainValue(value: AnyValue | undefined): unknown {
  const sent = value?.value;
  switch (sent?.case) {
    case "stringValue":
    case "boolValue":
    case "doubleValue":
      return sent.value;
    case "intValue":
      return parseJson(String(sent.value));
    case "bytesValue":
      return Buffer.from(sent.value).toString("base64");
    case "arrayValue":
      return sent.value.values.map(plainValue);
    case "kvlistValue":
      return Object.fromEntries(sent.value.values.map(({ key, value: inner }) => [key, plainValue(inner)]));
    case undefined:
      return null;
    default:
      return assertNever(sent);
  }
}

export function textOf(value: unknown): string | null {
  if (typeof value === "string") return value === "" ? null : value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : null;
}
