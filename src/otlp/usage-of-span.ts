import { toCount } from "../calls/usage.ts";
import { MODEL, TOKENS, WRAPPERS } from "./attribute-rows.ts";
import { textOf, type Attributes } from "./attributes.ts";

/** A model that no attribute names. */
const UNKNOWN_MODEL = "usage";

/** True for a span that repeats the usage of the spans below it. */
export function isWrapper(name: string, attributes: Attributes): boolean {
  return WRAPPERS.some(({ attribute, values }) => {
    const value = attributes.get(attribute) ?? (attribute === "ai.operationId" ? name : undefined);
    return typeof value === "string" && values.has(value);
  });
}

/**
 * The `usage` of a call's summary: the tokens of a span under its model; undefined when it has none. A span with
 * tokens of its own is one request; one that repeats those of others is none.
 */
export function usageOfSpan(
  attributes: Attributes,
  wrapper: boolean,
): Record<string, Record<string, number>> | undefined {
  const counts = Object.entries(TOKENS).flatMap(([name, row]) => {
    const count = firstCount(attributes, row);
    return count === undefined ? [] : [[name, count] as const];
  });
  if (counts.length === 0) return undefined;
  const model = firstText(attributes, MODEL) ?? UNKNOWN_MODEL;
  return { [model]: { ...(wrapper ? {} : { requests: 1 }), ...Object.fromEntries(counts) } };
}

export function firstText(attributes: Attributes, row: readonly string[]): string | null {
  for (const key of row) {
    const text = textOf(attributes.get(key));
    if (text !== null) return text;
  }
  return null;
}

function firstCount(attributes: Attributes, row: readonly string[]): number | undefined {
  for (const key of row) {
    const value = attributes.get(key);
    const count = toCount(value);
    if (count > 0 || value === 0 || value === "0") return count;
  }
  return undefined;
}
