import { isJsonObject } from "../shared/json.ts";
import { readService } from "./read-service.ts";
import { detailsOf, INPUT_DETAILS, readUnits } from "./read-units.ts";
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
    "cached_input_tokens",
    "cached_prompt_tokens",
    "cached_tokens",
    "num_cached_tokens",
    "cache_read_tokens",
  ],
  cacheWrite: [
    "cacheWriteInputTokens",
    "cacheCreationInputTokens",
    "cache_write_input_tokens",
    "cache_write_tokens",
  ],
} as const;

/** Gemini counts the tokens of its own tools besides the prompt, and thoughts besides the output, unless its total says otherwise. */
const BESIDE_PROMPT = ["toolUsePromptTokenCount", "tool_use_prompt_token_count"];
const BESIDE_COMPLETION = ["thoughtsTokenCount", "thoughts_token_count", "thoughts_tokens"];
/** Cache writes of a provider's details: OpenAI's, DashScope's and LiteLLM's. */
const WRITTEN = ["cache_write_tokens", "cache_creation_input_tokens", "cache_creation_tokens"];
/** LangChain's parts of the cached prompt, which add up; the tier that served them comes first: `flex_cache_read`. */
const CACHE_READ = /^(?:[a-z]+_)?cache_read(?:_over_200k)?$/;
const CACHE_WRITE = /^(?:[a-z]+_)?cache_creation(?:_over_200k)?$/;
const WRITTEN_BY_AGE = /^ephemeral_(?:5m|1h)_input_tokens$/;

/** A usage entry in any provider's format, without the LLM it belongs to. */
export function readEntry(entry: Json): PricedUsage {
  const promptTokens = promptOf(entry);
  const completionTokens = completionOf(entry, promptTokens);
  const details = INPUT_DETAILS.map((name) => entry[name]).filter(isJsonObject);
  return {
    requests: toCount(entry["requests"]),
    promptTokens,
    completionTokens,
    totalTokens: toCount(first(entry, WORDS.total)) || promptTokens + completionTokens,
    cacheReadTokens: toCount(
      entry["cache_read_input_tokens"] ??
        firstIn(details, ["cached_tokens"]) ??
        sumOf(details, CACHE_READ) ??
        first(entry, WORDS.cacheRead),
    ),
    cacheCreationTokens: toCount(
      entry["cache_creation_input_tokens"] ??
        firstIn(details, WRITTEN) ??
        writesIn(details) ??
        first(entry, WORDS.cacheWrite) ??
        cacheCreationParts(entry["cache_creation"]),
    ),
    cacheOutsidePrompt: leavesCacheOut(entry),
    units: readUnits(entry),
    service: readService(entry),
  };
}

/** Adds the count that only the total has: the rest of it or, where nothing is written, all of it is input. */
export function withRest(entry: Json, isInput: boolean): Json {
  const {
    promptTokens: prompt,
    completionTokens: completion,
    totalTokens,
    cacheOutsidePrompt,
  } = readEntry(entry);
  const rest = totalTokens - prompt - completion;
  if (rest <= 0 || cacheOutsidePrompt || prompt > 0 === (completion > 0 || isInput)) return entry;
  return prompt > 0 ? { ...entry, completion_tokens: rest } : { ...entry, prompt_tokens: rest };
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
  const total = toCount(first(entry, WORDS.total));
  const thoughts = total > 0 && total === prompt + stated ? 0 : toCount(first(entry, BESIDE_COMPLETION));
  return stated + thoughts + besideCompletion(entry, prompt, stated);
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
function cacheCreationParts(parts: unknown): number | undefined {
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
    entry["cache_read_input_tokens"] ??
    entry["cache_creation_input_tokens"] ??
    cacheCreationParts(entry["cache_creation"]);
  if (entry["input_tokens"] != null) return flat != null && detailsOf(entry, INPUT_DETAILS) === undefined;
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

function firstIn(details: readonly Json[], names: readonly string[]): unknown {
  return details.map((one) => first(one, names)).find((value) => value !== undefined);
}

/** Writes by age, or their sum; LangChain says that the sum is 0 beside them, DashScope has them in an object. */
function writesIn(details: readonly Json[]): number | undefined {
  const byAge = sumOf(details, WRITTEN_BY_AGE);
  const whole = sumOf(details, CACHE_WRITE);
  return byAge === undefined ? whole : larger(whole, byAge);
}

/** The sum of the named parts in the first details that have any. */
function sumOf(details: readonly Json[], names: RegExp): number | undefined {
  for (const one of details) {
    const parts = Object.entries(one).filter(([name, part]) => part != null && names.test(name));
    const counts = parts.map(([, part]) => cacheCreationParts(part) ?? toCount(part));
    if (counts.length > 0) return counts.reduce((sum, count) => sum + count);
  }
  return undefined;
}
