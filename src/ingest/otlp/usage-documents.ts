import { statedUnitsOf, ticksOf } from "../../usage/stated-cost.ts";
import { toCount } from "../../usage/to-count.ts";
import { isJsonObject } from "../../shared/json.ts";
import { readEntry } from "../../usage/read-entry.ts";
import { readUnits } from "../../usage/read-units.ts";
import type { UnitCounts } from "../../usage/units.ts";
import { usesNothing, type PricedUsage } from "../../usage/usage.ts";
import { TOKENS } from "./attribute-rows.ts";
import type { Attributes } from "./attributes.ts";
import { documentIn } from "./document-in.ts";

/** Counts, named as in a call's `summary.usage`, and the units of a stated cost. */
export type Counts = { readonly [Count in keyof typeof TOKENS]?: number } & UnitCounts;

type Json = Readonly<Record<string, unknown>>;

/** Attributes that hold counts in a JSON document; the first with a count wins. */
const DOCUMENTS: readonly { readonly attribute: string; readonly read: (document: Json) => Counts }[] = [
  { attribute: "gen_ai.usage.input_token_details", read: inputDetails },
  { attribute: "gen_ai.usage.prompt_tokens_details", read: inputDetails },
  { attribute: "gen_ai.usage.input_tokens_details", read: inputDetails },
  { attribute: "gen_ai.usage.output_token_details", read: langSmithOutput },
  { attribute: "langfuse.observation.usage_details", read: langfuseUsage },
  {
    attribute: "langfuse.observation.cost_details",
    read: ({ total }) => ({ ...statedUnitsOf(ticksOf(total)) }),
  },
  { attribute: "mlflow.chat.tokenUsage", read: mlflowUsage },
  { attribute: "langwatch.metrics", read: langWatchMetrics },
];

/** Adds token counts from JSON documents in a span's attributes. */
export function withDocuments(counts: Counts, attributes: Attributes): Counts {
  let found = counts;
  for (const { attribute, read } of DOCUMENTS) {
    const document = documentIn(attributes.get(attribute));
    if (document !== undefined) found = { ...read(document), ...found };
  }
  const metadata = documentIn(attributes.get("ai.response.providerMetadata"));
  return metadata === undefined ? found : withMetadata(found, metadata);
}

/**
 * Reads the AI SDK's provider metadata: costs, of Vercel's gateway as text and of xAI in ticks, and what versions 4 and 5
 * report only there: cached tokens, and Google's thoughts and tools. Of two names of a count the larger holds.
 */
function withMetadata(counts: Counts, byProvider: Json): Counts {
  const each = Object.values(byProvider).filter(isJsonObject).map(countsInMetadata);
  const told = Object.assign({}, ...each) as Counts;
  const larger = (Object.keys(TOKENS) as (keyof typeof TOKENS)[]).flatMap((name) =>
    (told[name] ?? 0) > (counts[name] ?? 0) ? [[name, told[name]] as const] : [],
  );
  const all: Counts = { ...told, ...counts, ...Object.fromEntries(larger) };
  const { prompt_tokens: prompt = 0, completion_tokens: completion = 0, total_tokens: total } = all;
  return total === undefined ? all : { ...all, total_tokens: Math.max(total, prompt + completion) };
}

function countsInMetadata({ usage, usageMetadata: native, cost, ...facts }: Json): Counts {
  const entry = inSnakeCase({
    ...facts,
    cost: typeof cost === "string" && cost !== "" ? Number(cost) : undefined,
    ...(isJsonObject(usage) && usage),
    ...(isJsonObject(native) && native),
  });
  const used = readEntry(entry);
  return {
    ...(isJsonObject(native) && {
      prompt_tokens: used.promptTokens,
      completion_tokens: used.completionTokens,
    }),
    ...partsOf(used),
  };
}

/** Converts names of the AI SDK to those of providers, also in details: `promptTokensDetails.cachedTokens`. */
function inSnakeCase(document: Json, depth = 2): Json {
  return Object.fromEntries(
    Object.entries(document).map(([name, value]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      isJsonObject(value) && depth > 0 ? inSnakeCase(value, depth - 1) : value,
    ]),
  );
}

/** Reads the token counts of a provider's own usage from the first attribute that has some; else `undefined`. */
export function countsInUsage(attributes: Attributes, names: readonly string[]): Counts | undefined {
  for (const name of names) {
    const document = documentIn(attributes.get(name));
    const counts = document === undefined ? undefined : countsOfUsage(document);
    if (counts !== undefined) return counts;
  }
  return undefined;
}

/** Reads the token counts of a provider's own usage; `undefined` if it has none. Prompt tokens include cached ones. */
export function countsOfUsage(document: Json): Counts | undefined {
  const used = readEntry(document);
  if (usesNothing(used)) return undefined;
  const cached = used.cacheOutsidePrompt ? used.cacheReadTokens + used.cacheCreationTokens : 0;
  return {
    prompt_tokens: used.promptTokens + cached,
    completion_tokens: used.completionTokens,
    total_tokens: used.promptTokens + cached + used.completionTokens,
    ...partsOf(used),
  };
}

interface RawCounts {
  readonly prompt?: unknown;
  readonly completion?: unknown;
  readonly total?: unknown;
  readonly cacheRead?: unknown;
  readonly cacheWrite?: unknown;
  readonly reasoning?: unknown;
}

function counts({ prompt, completion, total, cacheRead, cacheWrite, reasoning }: RawCounts): Counts {
  return {
    ...(prompt != null && { prompt_tokens: toCount(prompt) }),
    ...(completion != null && { completion_tokens: toCount(completion) }),
    ...(total != null && { total_tokens: toCount(total) }),
    ...(cacheRead != null && { cache_read_input_tokens: toCount(cacheRead) }),
    ...(cacheWrite != null && { cache_creation_input_tokens: toCount(cacheWrite) }),
    ...(reasoning != null && { reasoning_tokens: toCount(reasoning) }),
  };
}

/** Reads details of the input, in the form of LangChain or of a provider. */
function inputDetails(details: Json): Counts {
  return partsOf(readEntry({ input_token_details: details }));
}

function partsOf({ cacheReadTokens, cacheCreationTokens, units }: PricedUsage): Counts {
  return {
    ...(cacheReadTokens > 0 && { cache_read_input_tokens: cacheReadTokens }),
    ...(cacheCreationTokens > 0 && { cache_creation_input_tokens: cacheCreationTokens }),
    ...units,
  };
}

function langSmithOutput(details: Json): Counts {
  return {
    ...counts({ reasoning: details["reasoning"] }),
    ...readUnits({ output_token_details: details }),
  };
}

/**
 * Reads Langfuse's usage, which splits input and output tokens into disjoint counts: `input`, `input_cached_tokens`,
 * `output`, `output_reasoning_tokens`, ….
 */
function langfuseUsage(details: Json): Counts {
  const sumOf = (matches: (key: string) => boolean): number | undefined => {
    const found = Object.entries(details).filter(([key, value]) => typeof value === "number" && matches(key));
    return found.length === 0 ? undefined : found.reduce((sum, [, value]) => sum + toCount(value), 0);
  };
  const isInput = (key: string): boolean => key.includes("input");
  const isWritten = (key: string): boolean => /write|creation/.test(key);
  return counts({
    prompt: sumOf(isInput) ?? details["prompt_tokens"],
    completion: sumOf((key) => key.includes("output")) ?? details["completion_tokens"],
    total: details["total"] ?? details["total_tokens"],
    cacheRead: sumOf((key) => isInput(key) && key.includes("cache") && !isWritten(key)),
    cacheWrite: sumOf((key) => isInput(key) && key.includes("cache") && isWritten(key)),
    reasoning: sumOf((key) => key.includes("output") && key.includes("reasoning")),
  });
}

function mlflowUsage(usage: Json): Counts {
  const hourly = toCount(usage["cache_creation_input_tokens_above_1hr"]);
  const found = counts({
    prompt: usage["input_tokens"],
    completion: usage["output_tokens"],
    total: usage["total_tokens"],
    cacheRead: usage["cache_read_input_tokens"],
    cacheWrite: usage["cache_creation_input_tokens"],
  });
  return hourly === 0 ? found : { ...found, cache_write_1h_tokens: hourly };
}

function langWatchMetrics(metrics: Json): Counts {
  const value = isJsonObject(metrics["value"]) ? metrics["value"] : metrics;
  return counts({
    prompt: value["promptTokens"],
    completion: value["completionTokens"],
    cacheRead: value["cacheReadInputTokens"],
    cacheWrite: value["cacheCreationInputTokens"],
    reasoning: value["reasoningTokens"],
  });
}
