import type { CallUsage } from "../../../src/prices/call-usage.ts";

/** One request that used nothing but what is given. */
export function usageOf(used: Partial<CallUsage>): CallUsage {
  return {
    requests: 1,
    promptTokens: 0,
    completionTokens: 0,
    cacheReadTokens: 0,
    cacheCreationTokens: 0,
    cacheOutsidePrompt: false,
    ...used,
  };
}
