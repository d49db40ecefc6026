import { isJsonObject } from "../shared/json.ts";
import { readService } from "./read-service.ts";
import { detailsOf, readUnits } from "./read-units.ts";
import { toCount } from "./to-count.ts";
import type { PricedUsage } from "./usage.ts";

type Json = Readonly<Record<string, unknown>>;

/** The names that providers give the same count. The first one present is used; two are never added. */
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
    "cache_read_tokens",
  ],
  cacheWrite: ["cacheWriteInputTokens", "cacheCreationInputTokens", "cache_write_tokens"],
} as const;

/** Gemini counts the tokens of its own tools besides the prompt, and thoughts besides the output. */
const BESIDE_PROMPT = ["toolUsePromptTokenCount", "tool_use_prompt_token_count"];
const BESIDE_COMPLETION = ["thoughtsTokenCount", "thoughts_token_count", "thoughts_tokens"];
const PROMPT_DETAILS = ["prompt_tokens_details", "input_tokens_details", "input_token_details"];
/** LangChain's parts of the cached prompt, which add up. */
const CACHE_READ = ["cache_read", "cache_read_over_200k", "priority_cache_read", "flex_cache_read"];
const CACHE_WRITE = ["ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"];

/** A usage entry in any provider's format, without the LLM it belongs to. */
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
        sumOfDetails(entry, CACHE_READ) ??
        first(entry, WORDS.cacheRead),
    ),
    cacheCreationTokens: toCount(
      entry["cache_creation_input_tokens"] ??
        promptDetail(entry, "cache_write_tokens") ??
        langChainWrites(entry) ??
        first(entry, WORDS.cacheWrite) ??
        cacheCreationParts(entry),
    ),
    cacheOutsidePrompt: leavesCacheOut(entry),
    units: readUnits(entry),
    service: readService(entry),
  };
}

function promptOf(entry: Json): number {
  const stated = larger(entry["prompt_tokens"], entry["input_tokens"]);
  const isNamed = entry["prompt_tokens"] != null || entry["input_tokens"] != null;
  if (isNamed) return stated;
  const hitAndMiss = toCount(entry["prompt_cache_hit_tokens"]) + toCount(entry["prompt_cache_miss_tokens"]);
  const native = toCount(first(entry, WORDS.prompt)) + toCount(first(entry, BESIDE_PROMPT));
  return native || hitAndMiss || billed(entry, "input_tokens");
}

function completionOf(entry: Json, prompt: number): number {
  const isNamed = entry["completion_tokens"] != null || entry["output_tokens"] != null;
  const stated = isNamed
    ? larger(entry["completion_tokens"], entry["output_tokens"])
    : toCount(first(entry, WORDS.completion)) || billed(entry, "output_tokens");
  return stated + toCount(first(entry, BESIDE_COMPLETION)) + besideCompletion(entry, prompt, stated);
}

/**
 * What a provider charges as output but counts separately: Perplexity's research reports citations and reasoning on their
 * own; xAI's reasoning is the part of its total beyond prompt and completion.
 */
function besideCompletion(entry: Json, prompt: number, completion: number): number {
  if (entry["citation_tokens"] != null)
    return toCount(entry["citation_tokens"]) + toCount(entry["reasoning_tokens"]);
  const details = entry["completion_tokens_details"];
  const reasoning = isJsonObject(details) ? toCount(details["reasoning_tokens"]) : 0;
  return toCount(entry["total_tokens"]) === prompt + completion + reasoning ? reasoning : 0;
}

/** Cohere reports what it bills besides what the model read. */
function billed(entry: Json, name: "input_tokens" | "output_tokens"): number {
  const said = detailsOf(entry, ["billed_units", "tokens"]);
  return isJsonObject(said) ? toCount(said[name]) : 0;
}

/** The parts of Anthropic's cache writes, if their sum is missing. */
function cacheCreationParts(entry: Json): unknown {
  const parts = entry["cache_creation"];
  if (!isJsonObject(parts)) return undefined;
  return toCount(parts["ephemeral_5m_input_tokens"]) + toCount(parts["ephemeral_1h_input_tokens"]);
}

/**
 * Whether the prompt count excludes cached tokens: in Anthropic's own format (`input_tokens` with flat `cache_*` fields and
 * none of OpenAI's details) and in that of Bedrock's Converse.
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

/** Two names of one number, never added. */
function larger(one: unknown, other: unknown): number {
  return Math.max(toCount(one), toCount(other));
}

function first(entry: Json, names: readonly string[]): unknown {
  for (const name of names) if (entry[name] != null) return entry[name];
  return undefined;
}

/** LangChain says 0 writes beside those of 5 minutes and of one hour; others say their sum. */
function langChainWrites(entry: Json): unknown {
  const parts = sumOfDetails(entry, CACHE_WRITE);
  const whole = promptDetail(entry, "cache_creation");
  return parts === undefined ? whole : larger(whole, parts);
}

function sumOfDetails(entry: Json, names: readonly string[]): number | undefined {
  const parts = names.map((name) => promptDetail(entry, name)).filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.reduce<number>((sum, part) => sum + toCount(part), 0);
}

/** OpenAI's details of the prompt, in the format of chat completions or of responses, and LangChain's. */
function promptDetail(entry: Json, name: string): unknown {
  for (const member of PROMPT_DETAILS) {
    const details = entry[member];
    if (isJsonObject(details) && details[name] != null) return details[name];
  }
  return undefined;
}
