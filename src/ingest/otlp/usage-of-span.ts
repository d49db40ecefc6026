import { toCount } from "../../usage/to-count.ts";
import { MODEL, NO_REQUESTS, TOKENS, UNITS } from "./attribute-rows.ts";
import { textOf, type Attributes } from "./attributes.ts";
import { excludesCache, usageAttributes, type SpanOfProducer } from "./producers.ts";
import { countsInDocuments, type Counts } from "./usage-documents.ts";

/** The name of a model if no attribute names it. */
const UNKNOWN_MODEL = "usage";

/**
 * The `usage` of a call's summary: the tokens of a span under its model; undefined if it reports none. As in the
 * conventions, prompt tokens include cached ones, even if the producer excludes them.
 */
export function usageOfSpan(span: SpanOfProducer): Record<string, Record<string, number>> | undefined {
  const attributes = usageAttributes(span);
  const reported: Counts = { ...countsInDocuments(attributes), ...countsInRows(attributes) };
  if (Object.keys(reported).length === 0) return undefined;
  const counts = withCacheInPrompt(reported, excludesCache(span));
  const model = firstText(attributes, MODEL)?.replace(/^"(.+)"$/, "$1") ?? UNKNOWN_MODEL;
  return { [model]: { ...(asksNoModel(span) ? {} : { requests: 1 }), ...counts } };
}

/** True for a span that can only repeat the usage of others. */
function asksNoModel({ name, attributes }: SpanOfProducer): boolean {
  return NO_REQUESTS.some(({ attribute, values }) => {
    const value = attributes.get(attribute) ?? (attribute === "ai.operationId" ? name : undefined);
    return typeof value === "string" && values.has(value);
  });
}

function countsInRows(attributes: Attributes): Counts {
  const counts = Object.entries({ ...TOKENS, ...UNITS }).flatMap(([name, row]) => {
    const count = firstCount(attributes, row);
    return count === undefined ? [] : [[name, count] as const];
  });
  return Object.fromEntries(counts);
}

/** More cached tokens than prompt tokens: then the prompt count must exclude them. */
function withCacheInPrompt(counts: Counts, leavesOut: boolean): Counts {
  const cached = (counts.cache_read_input_tokens ?? 0) + (counts.cache_creation_input_tokens ?? 0);
  const prompt = counts.prompt_tokens;
  if (prompt === undefined || cached === 0 || !(leavesOut || cached > prompt)) return counts;
  const completion = counts.completion_tokens ?? 0;
  return { ...counts, prompt_tokens: prompt + cached, total_tokens: prompt + cached + completion };
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
