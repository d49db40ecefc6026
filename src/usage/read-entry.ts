import { isJsonObject } from "../shared/json.ts";
import { readService } from "./read-service.ts";
import { detailsOf, readUnits } from "./read-units.ts";
import { toCount } from "./to-count.ts";
import type { PricedUsage } from "./usage.ts";

type Json = Readonly<Record<string, unknown>>;

/** What the providers call one and the same count; the first that is present holds, two are never added. */
const WORDS = {
  prompt: ["promptTokenCount", "prompt_token_count", "inputTokens", "promptTokens"],
  completion: [
    "candidatesTokenCount",
    "candidates_token_count",
    "responseTokenCount",
    "response_token_count",
    "outputTokens",
    "completionTokens",
  ],
  total: ["total_tokens", "totalTokenCount", "total_token_count", "totalTokens"],
  cacheRead: [
    "prompt_cache_hit_tokens",
    "cachedContentTokenCount",
    "cached_content_token_count",
    "cacheReadInputTokens",
    "cachedInputTokens",
    "cached_tokens",
  ],
  cacheWrite: ["cacheWriteInputTokens", "cacheCreationInputTokens"],
} as const;

/** Gemini counts the tokens of its own tools beside the prompt, and thoughts beside the answer. */
const BESIDE_PROMPT = ["toolUsePromptTokenCount", "tool_use_prompt_token_count"];
const BESIDE_COMPLETION = ["thoughtsTokenCount", "thoughts_token_count", "thoughts_tokens"];
const PROMPT_DETAILS = ["prompt_tokens_details", "input_tokens_details", "input_token_details"];

/** An entry of usage in the words of any provider, without the LLM that it stands for. */
export function readEntry(entry: Json): PricedUsage {
  const promptTokens = promptOf(entry);
  const completionTokens = completionOf(entry, promptTokens);
  return {
    requests: toCount(entry["requests"]),
    promptTokens,
    completionTokens,
    totalTokens: toCount(first(entry, WORDS.total)) || promptTokens + completionTokens,
    cacheReadTokens: toCount(
      entry["cache_read_input_tokens"] ??
        promptDetail(entry, "cached_tokens") ??
        first(entry, WORDS.cacheRead),
    ),
    cacheCreationTokens: toCount(
      entry["cache_creation_input_tokens"] ??
        promptDetail(entry, "cache_write_tokens") ??
        first(entry, WORDS.cacheWrite) ??
        cacheCreationParts(entry),
    ),
    cacheOutsidePrompt: leavesCacheOut(entry),
    units: readUnits(entry),
    service: readService(entry),
  };
}

function promptOf(entry: Json): number {
  const told = larger(entry["prompt_tokens"], entry["input_tokens"]);
  const isNamed = entry["prompt_tokens"] != null || entry["input_tokens"] != null;
  if (isNamed) return told;
  const hitAndMiss = toCount(entry["prompt_cache_hit_tokens"]) + toCount(entry["prompt_cache_miss_tokens"]);
  const native = toCount(first(entry, WORDS.prompt)) + toCount(first(entry, BESIDE_PROMPT));
  return native || hitAndMiss || billed(entry, "input_tokens");
}

function completionOf(entry: Json, prompt: number): number {
  const isNamed = entry["completion_tokens"] != null || entry["output_tokens"] != null;
  const told = isNamed
    ? larger(entry["completion_tokens"], entry["output_tokens"])
    : toCount(first(entry, WORDS.completion)) || billed(entry, "output_tokens");
  return told + toCount(first(entry, BESIDE_COMPLETION)) + besideCompletion(entry, prompt, told);
}

/**
 * What a provider charges as output, and counts beside it: Perplexity's research says citations and reasoning on their own;
 * xAI's reasoning is what its total has more than prompt and completion.
 */
function besideCompletion(entry: Json, prompt: number, completion: number): number {
  if (entry["citation_tokens"] != null)
    return toCount(entry["citation_tokens"]) + toCount(entry["reasoning_tokens"]);
  const details = entry["completion_tokens_details"];
  const reasoning = isJsonObject(details) ? toCount(details["reasoning_tokens"]) : 0;
  return toCount(entry["total_tokens"]) === prompt + completion + reasoning ? reasoning : 0;
}

/** Cohere says what it bills beside what the model read. */
function billed(entry: Json, name: "input_tokens" | "output_tokens"): number {
  const said = detailsOf(entry, ["billed_units", "tokens"]);
  return isJsonObject(said) ? toCount(said[name]) : 0;
}

/** Anthropic's parts of the cache's writing, where the sum of them is missing. */
function cacheCreationParts(entry: Json): unknown {
  const parts = entry["cache_creation"];
  if (!isJsonObject(parts)) return undefined;
  return toCount(parts["ephemeral_5m_input_tokens"]) + toCount(parts["ephemeral_1h_input_tokens"]);
}

/**
 * Whether cached tokens are beside the prompt: Anthropic's own words, `input_tokens` with flat `cache_*` fields and no
 * details of OpenAI's, and those of Bedrock's Converse.
 */
function leavesCacheOut(entry: Json): boolean {
  if (entry["prompt_tokens"] != null) return false;
  const flat =
    entry["cache_read_input_tokens"] ?? entry["cache_creation_input_tokens"] ?? cacheCreationParts(entry);
  if (entry["input_tokens"] != null) return flat != null && detailsOf(entry, PROMPT_DETAILS) === undefined;
  return (
    entry["inputTokens"] != null &&
    (entry["cacheReadInputTokens"] != null || entry["cacheWriteInputTokens"] != null)
  );
}

/** Two names of one number: never their sum. */
function larger(one: unknown, other: unknown): number {
  return Math.max(toCount(one), toCount(other));
}

function first(entry: Json, names: readonly string[]): unknown {
  return names.map((name) => entry[name]).find((value) => value != null);
}

/** What OpenAI says of the prompt, in the words of its chat or of its responses. */
function promptDetail(entry: Json, name: string): unknown {
  return PROMPT_DETAILS.map((details) => entry[details])
    .map((details) => (isJsonObject(details) ? details[name] : undefined))
    .find((value) => value != null);
}
