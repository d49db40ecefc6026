import { statedUnitsOf, ticksOf } from "../../usage/stated-cost.ts";
import { toCount } from "../../usage/to-count.ts";
import { isJsonObject } from "../../shared/json.ts";
import { readEntry } from "../../usage/read-entry.ts";
import { readUnits } from "../../usage/read-units.ts";
import type { UnitCounts } from "../../usage/units.ts";
import { usesNothing } from "../../usage/usage.ts";
import type { TOKENS } from "./attribute-rows.ts";
import type { Attributes } from "./attributes.ts";
import { documentIn } from "./document-in.ts";

/** Counts, named as in a call's `summary.usage`, and the units of a stated cost. */
export type Counts = { readonly [Count in keyof typeof TOKENS]?: number } & UnitCounts;

type Json = Readonly<Record<string, unknown>>;

/** Attributes that hold counts in a JSON document; the first with a count wins. */
const DOCUMENTS: readonly { readonly attribute: string; readonly read: (document: Json) => Counts }[] = [
  { attribute: "gen_ai.usage.input_token_details", read: langSmithInput },
  { attribute: "gen_ai.usage.output_token_details", read: langSmithOutput },
  { attribute: "langfuse.observation.usage_details", read: langfuseUsage },
  {
    attribute: "langfuse.observation.cost_details",
    read: ({ total }) => ({ ...statedUnitsOf(ticksOf(total)) }),
  },
  { attribute: "mlflow.chat.tokenUsage", read: mlflowUsage },
  { attribute: "langwatch.metrics", read: langWatchMetrics },
  { attribute: "ai.response.providerMetadata", read: providerMetadata },
];

/** Reads token counts from JSON documents in a span's attributes. */
export function countsInDocuments(attributes: Attributes): Counts {
  let found: Counts = {};
  for (const { attribute, read } of DOCUMENTS) {
    const document = documentIn(attributes.get(attribute));
    if (document !== undefined) found = { ...read(document), ...found };
  }
  return found;
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
    ...(used.cacheReadTokens > 0 && { cache_read_input_tokens: used.cacheReadTokens }),
    ...(used.cacheCreationTokens > 0 && { cache_creation_input_tokens: used.cacheCreationTokens }),
    ...used.units,
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

/** Reads input details, which have the form of LangChain's usage. */
function langSmithInput(details: Json): Counts {
  const { cacheReadTokens, cacheCreationTokens, units } = readEntry({ input_token_details: details });
  const found = counts({
    cacheRead: cacheReadTokens || details["cache_read"],
    cacheWrite: cacheCreationTokens || details["cache_creation"],
  });
  return { ...found, ...units };
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

/**
 * Reads provider metadata from the AI SDK: costs, of Vercel's gateway as text and of xAI in ticks, and cached tokens, which
 * versions 4 and 5 report only there.
 */
function providerMetadata(byProvider: Json): Counts {
  const found = Object.values(byProvider)
    .filter(isJsonObject)
    .map((metadata): Counts => {
      const usage = isJsonObject(metadata["usage"]) ? metadata["usage"] : {};
      const native = isJsonObject(metadata["usageMetadata"]) ? metadata["usageMetadata"] : usage;
      const found = counts({
        cacheRead:
          usage["cache_read_input_tokens"] ??
          usage["cacheReadInputTokens"] ??
          metadata["cacheReadInputTokens"] ??
          metadata["cachedPromptTokens"],
        cacheWrite:
          usage["cache_creation_input_tokens"] ??
          usage["cacheWriteInputTokens"] ??
          usage["cacheWriteTokens"] ??
          metadata["cacheCreationInputTokens"],
      });
      const { cost: text, costInUsdTicks: ticks } = metadata;
      const cost = typeof text === "string" && text !== "" ? Number(text) : undefined;
      return { ...found, ...readUnits({ cost, cost_in_usd_ticks: ticks, ...native }) };
    });
  return Object.assign({}, ...found) as Counts;
}
