import type { CallUsage } from "./call-usage.ts";
import { pricesFor, type Rates } from "./rates.ts";

/** What the tokens of a call cost, in picodollars. `null`: the price is not known; never 0 for that. */
export interface CallCost {
  /** Of the tokens that did not come from the cache alone. */
  readonly prompt: number | null;
  readonly completion: number | null;
  readonly cacheRead: number | null;
  readonly cacheCreation: number | null;
}

export const unknownCost: CallCost = Object.freeze({
  prompt: null,
  completion: null,
  cacheRead: null,
  cacheCreation: null,
});

/**
 * The four costs of a call, none negative.
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
    prompt: product(input - cached, prices.prompt),
    completion: product(usage.completionTokens, prices.completion),
    cacheRead: product(cacheRead, prices.cacheRead),
    cacheCreation: product(cacheCreation, prices.cacheCreation),
  };
}

function product(tokens: number, price: number | null): number | null {
  if (!(tokens > 0)) return 0;
  return price === null ? null : tokens * price;
}
