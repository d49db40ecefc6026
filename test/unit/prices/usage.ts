import type { PricedUsage } from "../../../src/usage/usage.ts";

/** One request that used nothing but what is given. */
export function usageOf(used: Partial<PricedUsage>): PricedUsage {
  return {
    requests: 1,
    promptTokens: 0,
    completionTokens: 0,
    totalTokens: 0,
    cacheReadTokens: 0,
    cacheCreationTokens: 0,
    cacheOutsidePrompt: false,
    ...used,
  };
}
