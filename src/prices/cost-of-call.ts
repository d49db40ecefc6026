import type { CallUsage } from "./call-usage.ts";
import { pricesFor, type Rates } from "./rates.ts";

/** What the tokens of a call cost, in USD. `null`: the price is not known; never 0 for that. */
export interface CallCost {
  readonly prompt_tokens_total_cost: number | null;
  readonly completion_tokens_total_cost: number | null;
  readonly cache_read_input_tokens_total_cost: number | null;
  readonly cache_creation_input_tokens_total_cost: number | null;
}

export const unknownCost: CallCost = Object.freeze({
  prompt_tokens_total_cost: null,
  completion_tokens_total_cost: null,
  cache_read_input_tokens_total_cost: null,
  cache_creation_input_tokens_total_cost: null,
});

/**
 * The four costs of a call. The prompt cost is for uncached prompt tokens alone. Units: USD, none negative.
 * A kind of token that was not used costs 0 once the model is known, also where its own price is not.
 */
export function costOfCall(usage: CallUsage, rates: Rates | null): CallCost {
  if (rates === null) return unknownCost;
  const prompt = usage.promptTokens;
  const cacheRead = usage.cacheReadTokens;
  const cacheCreation = usage.cacheCreationTokens;
  const cached = cacheRead + cacheCreation;
  const outside = usage.cacheOutsidePrompt || cached > prompt;
  const input = outside ? prompt + cached : prompt;
  // A usage of several requests is a sum, and tiers are for one request: its mean decides.
  const prices = pricesFor(rates, usage.requests > 1 ? input / usage.requests : input);
  return {
    prompt_tokens_total_cost: price(input - cached, prices.prompt, rates.perTokens),
    completion_tokens_total_cost: price(usage.completionTokens, prices.completion, rates.perTokens),
    cache_read_input_tokens_total_cost: price(cacheRead, prices.cacheRead, rates.perTokens),
    cache_creation_input_tokens_total_cost: price(cacheCreation, prices.cacheCreation, rates.perTokens),
  };
}

function price(tokens: number, perUnit: number | null, unit: number): number | null {
  if (!(tokens > 0)) return 0;
  return perUnit === null ? null : (tokens * perUnit) / unit;
}
