import type { UsageReading } from "../../calls/events/usage-basis.ts";
import { statedUsdOf, ticksOf } from "../../usage/stated-cost.ts";
import { toCount } from "../../usage/to-count.ts";
import { withRest } from "../../usage/read-entry.ts";
import { COST, KIND, RESPONSE_MODEL, MODEL, NO_REQUESTS, TOKENS, UNITS } from "./attribute-rows.ts";
import { textOf, type Attributes } from "./attributes.ts";
import { excludesCache, factsOf, profileOf, usageAttributes, type SpanOfProducer } from "./producers.ts";
import { countsInUsage, countsOfUsage, withDocuments, type Counts } from "./usage-documents.ts";

/** Model name if no attribute has one. */
export const UNKNOWN_MODEL = "usage";

interface SpanUsage {
  /** The `usage` of a call's summary: the tokens under their model. */
  readonly usage: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** The provider's id of the response, if the producer's profile reads it; else null. */
  readonly responseId: string | null;
  readonly reading: UsageReading;
}

/**
 * Reads a span's usage; `undefined` without tokens and cost. Prompt tokens include cached ones, as in the conventions, even
 * if the producer excludes them. A span with a cost alone is no request.
 */
export function usageOfSpan(span: SpanOfProducer): SpanUsage | undefined {
  const attributes = usageAttributes(span);
  const facts = factsOf(span);
  if (facts.repeats?.is(span.attributes) === true) return undefined;
  const sent = withDocuments(countsInRows(attributes), attributes);
  const isInput = KIND.some((key) => /embed|rerank/i.test(textOf(attributes.get(key)) ?? ""));
  const reported = excludesCache(span) ? sent : (withRest(sent, isInput) as Counts);
  const response = facts.response?.read(attributes);
  const raw =
    response === undefined ? countsInUsage(attributes, facts.raw ?? []) : countsOfUsage(response.usage);
  const all: Counts = raw === undefined ? corrected(reported, span) : { ...reported, ...raw };
  const cost = statedUsdOf(all) ?? firstCost(attributes);
  const { stated_ticks: _ticks, stated_usages: _usages, ...counts } = all;
  const isCounted = Object.keys(counts).length > 0;
  if (!isCounted && cost === undefined) return undefined;
  const responseModel =
    response?.model ?? facts.model?.read(attributes) ?? firstText(attributes, RESPONSE_MODEL);
  const model = (responseModel ?? firstText(attributes, MODEL))?.replace(/^"(.+)"$/, "$1") ?? UNKNOWN_MODEL;
  const requests = isCounted && !callsNoModel(span) ? { requests: 1 } : {};
  const usage = { [model]: { ...requests, ...counts, ...(cost !== undefined && { cost }) } };
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

/** True for a span that only repeats the usage of other spans. */
function callsNoModel(span: SpanOfProducer): boolean {
  const { name, attributes } = span;
  if (factsOf(span).callsNoModel?.is(attributes) === true) return true;
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
  const complete =
    factsOf(span).reasoningInTotal?.is(span.attributes) === true ? withReasoning(counts) : counts;
  return withCacheInPrompt(complete, excludesCache(span));
}

/** Adds reasoning to the completion tokens: tokens of the total beyond prompt and completion, billed as output. */
function withReasoning(counts: Counts): Counts {
  const { prompt_tokens: prompt = 0, completion_tokens: completion = 0, total_tokens: total = 0 } = counts;
  return total > prompt + completion ? { ...counts, completion_tokens: total - prompt } : counts;
}

/** Adds cached tokens to a prompt count that excludes them, as it must if it is smaller than their count. */
function withCacheInPrompt(counts: Counts, isExcluded: boolean): Counts {
  const cached = (counts.cache_read_input_tokens ?? 0) + (counts.cache_creation_input_tokens ?? 0);
  const prompt = counts.prompt_tokens;
  if (prompt === undefined || cached === 0 || !(isExcluded || cached > prompt)) return counts;
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

/** Reads the first credible cost, in USD. */
function firstCost(attributes: Attributes): number | undefined {
  return COST.map((key) => attributes.get(key) as number).find((cost) => ticksOf(cost) !== undefined);
}

function firstCount(attributes: Attributes, row: readonly string[]): number | undefined {
  for (const key of row) {
    const value = attributes.get(key);
    const count = toCount(value);
    if (count > 0 || value === 0 || value === "0") return count;
  }
  return undefined;
}
