import { isJsonObject } from "../shared/json.ts";
import { toCount } from "./to-count.ts";
import { isNothing, type Usage } from "./usage.ts";

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
