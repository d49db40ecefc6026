import { beforeAll, describe, expect, it } from "vitest";
import type { PriceList } from "../../../../src/prices/list/price-list.ts";
import { costOfCall } from "../../../../src/prices/cost-of-call.ts";
import { loadPriceList } from "../../../../src/prices/list/load-price-list.ts";
import { inUsd } from "../../../../src/prices/picodollars.ts";
import { usageOf } from "../usage.ts";

let corrected: PriceList;
beforeAll(async () => {
  corrected = await loadPriceList();
});

/** 1 M uncached prompt tokens, 1 M cached, 1 M completion tokens, in requests small enough for no tier. */
const million = usageOf({
  requests: 1_000,
  promptTokens: 2_000_000,
  cacheReadTokens: 1_000_000,
  completionTokens: 1_000_000,
});
const perMillion = (llmId: string, at: string): readonly (number | null)[] => {
  const cost = costOfCall(million, corrected.find(llmId)?.schedule(Date.parse(at) * 1000).rates ?? null);
  return [cost.prompt, cost.cacheRead, cost.completion].map((one) => (one === null ? null : inUsd(one)));
};

describe("corrections of the price list", () => {
  it.each([
    // The list as it is, until DeepSeek changed its prices.
    ["deepseek-chat", "2025-09-05T15:59:59Z", [0.27, 0.07, 1.1]],
    ["deepseek-chat", "2025-09-05T16:00:00Z", [0.56, 0.07, 1.68]],
    ["deepseek-reasoner", "2025-09-28T20:00:00Z", [0.56, 0.07, 1.68]],
    ["deepseek-reasoner", "2025-10-01T20:00:00Z", [0.28, 0.028, 0.42]],
    ["deepseek/deepseek-chat", "2026-03-01T12:00:00Z", [0.28, 0.028, 0.42]],
    ["deepseek-chat", "2026-05-01T12:00:00Z", [0.14, 0.0028, 0.28]],
    ["deepseek-v4-flash", "2026-07-01T02:00:00Z", [0.14, 0.0028, 0.28]],
    // A Tuesday, around the first peak hours.
    ["deepseek-v4-flash", "2026-08-18T00:59:59.999Z", [0.22, 0.007, 0.66]],
    ["deepseek-v4-flash", "2026-08-18T01:00:00Z", [0.44, 0.014, 1.32]],
    ["deepseek-v4-flash", "2026-08-18T04:00:00Z", [0.22, 0.007, 0.66]],
    ["deepseek-v4-flash", "2026-08-18T09:59:59.999Z", [0.44, 0.014, 1.32]],
    // Saturdays had peak hours until 23 August 2026 in China.
    ["deepseek-v4-pro", "2026-08-22T02:00:00Z", [1.32, 0.044, 3.96]],
    ["deepseek-v4-pro", "2026-08-29T02:00:00Z", [0.66, 0.022, 1.98]],
    ["deepseek-v4-pro", "2026-10-01T02:00:00Z", [0.66, 0.022, 1.98]],
    ["deepseek-v4-pro", "2026-10-08T02:00:00Z", [1.32, 0.044, 3.96]],
    ["deepseek-flash", "2026-11-20T12:00:00Z", [0.15, 0.003, 0.6]],
    ["deepseek-v4-flash", "2026-11-20T07:00:00Z", [0.3, 0.006, 1.2]],
  ] as const)("%s at %s", (llmId, at, usd) => {
    expect(perMillion(llmId, at)).toEqual(usd);
  });

  it.each([
    // USD a million of input and output: at the bound, and one token above it.
    ["gpt-5.4", 272_000, [2.5, 15]],
    ["gpt-5.4", 272_001, [5, 22.5]],
    ["azure/gpt-5.5", 272_000, [5, 30]],
    ["openai/gpt-5.5-2026-04-23", 272_001, [10, 45]],
    ["gpt-6.1-sol", 272_000, [2, 10]],
    ["gpt-6.1-sol-2026-09-29", 272_001, [4, 15]],
    ["gemini-2.5-pro", 200_000, [1.25, 10]],
    ["gemini-2.5-pro", 200_001, [2.5, 15]],
    ["claude-sonnet-4-5", 200_000, [3, 15]],
    ["claude-sonnet-4-5", 200_001, [6, 22.5]],
    ["claude-haiku-5-5", 100_000, [0.1, 0.5]],
    ["claude-haiku-5-5", 100_001, [0.5, 2.5]],
    // xAI charges long requests from the bound on, and grok-4 above it.
    ["grok-4.7", 199_999, [2, 6]],
    ["xai/grok-4.7", 200_000, [4, 12]],
    ["grok-4.20-0309-reasoning", 200_000, [2.5, 5]],
    ["grok-4", 128_000, [3, 15]],
    ["grok-4", 128_001, [6, 30]],
    // Listed at a host's price, and at that of another day.
    ["gpt-oss-120b", 1_000, [null, null]],
    ["mistral-large-latest", 1_000, [null, null]],
  ] as const)("%s with %d tokens of input, some of them cached", (llmId, input, [prompt, completion]) => {
    const rates = corrected.find(llmId)!.schedule(Date.parse("2026-11-01T12:00:00Z") * 1000).rates;
    for (const cached of [0, 0.5, 1]) {
      const cacheReadTokens = Math.floor(input * cached);
      const usage = usageOf({ promptTokens: input, cacheReadTokens, completionTokens: 1_000_000 });
      const cost = costOfCall(usage, rates);
      expect(cost.completion === null ? null : inUsd(cost.completion)).toBe(completion);
      expect(cost.prompt === null ? null : inUsd(cost.prompt)).toBe(
        prompt === null ? null : inUsd((input - cacheReadTokens) * prompt * 1_000_000),
      );
    }
  });

  it.each([
    ["claude-sonnet-5-5", "2026-10-06T23:59:59Z", [2, 0.2, 10]],
    ["claude-sonnet-5-5", "2026-10-07T00:00:00Z", [2, 0.1, 10]],
    ["o3", "2025-06-09T23:59:59Z", [10, 2.5, 40]],
    ["o3", "2025-06-10T00:00:00Z", [2, 0.5, 8]],
    ["mistral-large-latest", "2025-12-01T00:00:00Z", [2, 2, 6]],
    ["mistral/mistral-large-latest", "2026-03-01T00:00:00Z", [0.5, 0.05, 1.5]],
    ["gpt-6.1-sol", "2026-09-28T12:00:00Z", [null, null, null]],
    ["gpt-6.2-sol", "2026-11-18T12:00:00Z", [2, 0.1, 10]],
    ["claude-fable-5-2", "2026-11-10T12:00:00Z", [8, 0.2, 40]],
    ["claude-mythos-5-1", "2026-11-10T12:00:00Z", [10, 0.25, 50]],
  ] as const)("%s at %s costs", (llmId, at, usd) => {
    expect(perMillion(llmId, at)).toEqual(usd);
  });

  it("charge units that the list omits", () => {
    const units = (llmId: string, at = "2026-11-01T12:00:00Z") =>
      corrected.find(llmId)!.schedule(Date.parse(at) * 1000).rates!.base.units ?? {};
    // A thousand searches of xAI cost $5, since it is known; an hour in the cache twice the input, on Bedrock and Vertex too.
    expect(units("grok-4.5")).toMatchObject({ web_searches: 5_000_000_000, social_searches: 5_000_000_000 });
    expect(units("grok-4.5", "2026-09-20T23:59:59Z")).toEqual({});
    expect(units("eu.anthropic.claude-sonnet-4-5-20250929-v1:0").cache_write_1h_tokens).toBe(6_600_000);
    expect(units("vertex_ai/claude-sonnet-4-5@20250929").cache_write_1h_tokens).toBe(6_000_000);
    expect(units("gpt-4o-audio-preview-2025-06-03")).toMatchObject({
      input_audio_tokens: 40_000_000,
      output_audio_tokens: 80_000_000,
    });
    expect(units("gpt-4o-mini-audio-preview")).toMatchObject({
      input_audio_tokens: 10_000_000,
      output_audio_tokens: 20_000_000,
    });
  });
});
