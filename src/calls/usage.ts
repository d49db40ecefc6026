import { isExactInteger, isJsonObject, stringifyJson } from "../shared/json.ts";

/** What one call itself used of one LLM. All counts are whole and not negative. */
export interface Usage {
  readonly llm: string;
  readonly requests: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheCreationTokens: number;
  /** True when `promptTokens` leaves the cache tokens out, as Anthropic's raw usage does. */
  readonly cacheOutsidePrompt: boolean;
}

/** Reads `summary.usage`: the LLM id as it stands, one entry per LLM; entries that used nothing are dropped. */
export function readUsage(summary: unknown): readonly Usage[] {
  const byLlm = isJsonObject(summary) ? summary["usage"] : undefined;
  if (!isJsonObject(byLlm)) return [];
  return Object.entries(byLlm).flatMap(([llm, entry]) => {
    const usage = isJsonObject(entry) ? readEntry(llm, entry) : undefined;
    return usage === undefined || isNothing(usage) ? [] : [usage];
  });
}

function readEntry(llm: string, entry: Readonly<Record<string, unknown>>): Usage {
  const promptTokens = larger(entry["prompt_tokens"], entry["input_tokens"]);
  const completionTokens = larger(entry["completion_tokens"], entry["output_tokens"]);
  const cacheRead = entry["cache_read_input_tokens"] ?? detailOf(entry, "cached_tokens");
  const cacheCreation = entry["cache_creation_input_tokens"] ?? detailOf(entry, "cache_write_tokens");
  const flatCache = entry["cache_read_input_tokens"] ?? entry["cache_creation_input_tokens"];
  return {
    llm,
    requests: toCount(entry["requests"]),
    promptTokens,
    completionTokens,
    totalTokens: toCount(entry["total_tokens"]) || promptTokens + completionTokens,
    cacheReadTokens: toCount(cacheRead),
    cacheCreationTokens: toCount(cacheCreation),
    cacheOutsidePrompt: entry["input_tokens"] != null && entry["prompt_tokens"] == null && flatCache != null,
  };
}

/** Two names of one number: never their sum. */
function larger(one: unknown, other: unknown): number {
  return Math.max(toCount(one), toCount(other));
}

/** What OpenAI says of the prompt, in the words of its chat or of its responses. */
function detailOf(entry: Readonly<Record<string, unknown>>, name: string): unknown {
  const [chat, response] = [entry["prompt_tokens_details"], entry["input_tokens_details"]];
  return (
    (isJsonObject(chat) ? chat[name] : undefined) ?? (isJsonObject(response) ? response[name] : undefined)
  );
}

const NUMERIC = /^\s*\+?\d+(\.\d*)?(e[+-]?\d+)?\s*$/i;

/** From here on numbers are written with an exponent, and nobody counts that far. */
const COUNT_END = 1e21;

/**
 * A number, an integer with more digits than a double has, or a numeric string: its whole part, to the precision of a
 * double. Negative, non-finite and other values count 0.
 */
export function toCount(value: unknown): number {
  const text = isExactInteger(value) ? stringifyJson(value) : value;
  const number = typeof text === "string" && NUMERIC.test(text) ? Number(text) : text;
  if (typeof number !== "number") return 0;
  const whole = Math.trunc(number);
  return whole > 0 && whole < COUNT_END ? whole : 0;
}

export function isNothing(usage: Usage): boolean {
  return (
    usage.requests === 0 &&
    usage.promptTokens === 0 &&
    usage.completionTokens === 0 &&
    usage.totalTokens === 0 &&
    usage.cacheReadTokens === 0 &&
    usage.cacheCreationTokens === 0
  );
}

type Row = [string, number, number, number, number, number, number, 0 | 1];

/** The column `usage`: `[[llm, requests, prompt, completion, total, cache_read, cache_creation, cache_outside_prompt], …]`. */
export function encodeUsage(usages: readonly Usage[]): string {
  const rows = usages.map((usage): Row => [
    usage.llm.toWellFormed(),
    usage.requests,
    usage.promptTokens,
    usage.completionTokens,
    usage.totalTokens,
    usage.cacheReadTokens,
    usage.cacheCreationTokens,
    usage.cacheOutsidePrompt ? 1 : 0,
  ]);
  return JSON.stringify(rows);
}

export function decodeUsage(column: string): readonly Usage[] {
  if (column === "" || column === "[]") return [];
  return (JSON.parse(column) as Row[]).map((row) => ({
    llm: row[0],
    requests: row[1],
    promptTokens: row[2],
    completionTokens: row[3],
    totalTokens: row[4],
    cacheReadTokens: row[5],
    cacheCreationTokens: row[6],
    cacheOutsidePrompt: row[7] === 1,
  }));
}
