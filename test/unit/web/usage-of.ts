import type { UsageByLlm } from "../../../web/format/usage.ts";

/** So many prompt tokens of one model, at this cost. */
export function usageOf(llm: string, tokens: number, usd: number | null): UsageByLlm {
  return {
    [llm]: {
      requests: 1,
      prompt_tokens: tokens,
      completion_tokens: 0,
      total_tokens: tokens,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
      prompt_tokens_total_cost: usd,
      completion_tokens_total_cost: usd === null ? null : 0,
      cache_read_input_tokens_total_cost: usd === null ? null : 0,
      cache_creation_input_tokens_total_cost: usd === null ? null : 0,
      other_cost: usd === null ? null : 0,
      partial: usd === null,
    },
  };
}
