import type { UsageReading } from "../../calls/events/usage-basis.ts";
import { toCount } from "../../usage/to-count.ts";
import { ANSWERED, MODEL, NO_REQUESTS, TOKENS, UNITS } from "./attribute-rows.ts";
import { textOf, type Attributes } from "./attributes.ts";
import { excludesCache, factsOf, profileOf, usageAttributes, type SpanOfProducer } from "./producers.ts";
import { countsInDocuments, countsInUsage, countsOfUsage, type Counts } from "./usage-documents.ts";

/** The name of a model if no attribute names it. */
const UNKNOWN_MODEL = "usage";

interface SpanUsage {
  /** The `usage` of a call's summary: the tokens under their model. */
  readonly usage: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** The provider's id of the response, if only its producer's profile finds it. */
  readonly responseId: string | null;
  readonly reading: UsageReading;
}

/**
 * Reads a span's usage; `undefined` without tokens. As in the conventions, prompt tokens include cached ones, even if the
 * producer excludes them.
 */
export function usageOfSpan(span: SpanOfProducer): SpanUsage | undefined {
  const attributes = usageAttributes(span);
  const facts = factsOf(span);
  const reported: Counts = { ...countsInDocuments(attributes), ...countsInRows(attributes) };
  const response = facts.response?.read(attributes);
  const raw =
    response === undefined ? countsInUsage(attributes, facts.raw ?? []) : countsOfUsage(response.usage);
  if (raw === undefined && Object.keys(reported).length === 0) return undefined;
  const counts = raw === undefined ? corrected(reported, span) : { ...reported, ...raw };
  const answered = response?.model ?? facts.model?.read(attributes) ?? firstText(attributes, ANSWERED);
  const model = (answered ?? firstText(attributes, MODEL))?.replace(/^"(.+)"$/, "$1") ?? UNKNOWN_MODEL;
  const usage = { [model]: { ...(asksNoModel(span) ? {} : { requests: 1 }), ...counts } };
  return {
    usage,
    responseId: response?.id ?? null,
    reading: readingOf(span, counts.prompt_tokens !== reported.prompt_tokens),
  };
}

function readingOf(span: SpanOfProducer, isCorrected: boolean): UsageReading {
  const producer = profileOf(span)?.producer;
  if (producer !== undefined) return { basis: "producer", producer };
  return { basis: isCorrected ? "guess" : "words", producer };
}

/** True for a span that can only repeat the usage of others. */
function asksNoModel(span: SpanOfProducer): boolean {
  const { name, attributes } = span;
  if (factsOf(span).asksNone?.is(attributes) === true) return true;
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

function corrected(counts: Counts, span: SpanOfProducer): Counts {
  const whole = factsOf(span).thoughtsInTotal?.is(span.attributes) === true ? withThoughts(counts) : counts;
  return withCacheInPrompt(whole, excludesCache(span));
}

/** Counts thoughts: tokens of the total beyond prompt and completion, billed as output. */
function withThoughts(counts: Counts): Counts {
  const { prompt_tokens: prompt = 0, completion_tokens: completion = 0, total_tokens: total = 0 } = counts;
  return total > prompt + completion ? { ...counts, completion_tokens: total - prompt } : counts;
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
