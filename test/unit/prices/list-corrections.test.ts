import { waitForUpdate } from "@pydantic/genai-prices";
import { beforeAll, describe, expect, it } from "vitest";
import { createBuiltInPrices, type BuiltInPrices } from "../../../src/prices/built-in-prices.ts";
import { costOfCall } from "../../../src/prices/cost-of-call.ts";
import { listCorrections } from "../../../src/prices/list-corrections.ts";
import { loadPriceList } from "../../../src/prices/load-price-list.ts";
import { inUsd } from "../../../src/prices/picodollars.ts";
import { createPriceList } from "../../../src/prices/price-list.ts";
import { usageOf } from "./usage.ts";

let corrected: BuiltInPrices;
let uncorrected: BuiltInPrices;
beforeAll(async () => {
  corrected = createBuiltInPrices(await loadPriceList());
  const providers = (await waitForUpdate()) ?? [];
  uncorrected = createBuiltInPrices(createPriceList({ name: "as released", providers, corrections: [] }));
});

/** 1 M uncached prompt tokens, 1 M cached, 1 M completion tokens, in requests small enough for no tier. */
const million = usageOf({
  requests: 1_000,
  promptTokens: 2_000_000,
  cacheReadTokens: 1_000_000,
  completionTokens: 1_000_000,
});
const perMillion = (llmId: string, at: string): readonly (number | null)[] => {
  const cost = costOfCall(million, corrected.find(llmId)?.schedule.ratesAt(Date.parse(at)) ?? null);
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

  it("charges long requests to Claude Sonnet 4 and Grok 4 what they cost", () => {
    const long = (llmId: string, promptTokens: number) => {
      const usage = usageOf({ promptTokens, completionTokens: 1_000 });
      const rates = corrected.find(llmId)!.schedule.ratesAt(Date.parse("2025-11-01T12:00:00Z"));
      const cost = costOfCall(usage, rates);
      return [inUsd(cost.prompt!), inUsd(cost.completion!)];
    };
    // 200,000 × $3/M and 1,000 × $15/M; 200,001 × $6/M and 1,000 × $22.50/M
    expect(long("claude-sonnet-4-20250514", 200_000)).toEqual([0.6, 0.015]);
    expect(long("claude-sonnet-4-20250514", 200_001)).toEqual([1.200006, 0.0225]);
    // 128,001 × $6/M and 1,000 × $30/M; 128,001 × $0.40/M and 1,000 × $1/M
    expect(long("grok-4", 128_001)).toEqual([0.768006, 0.03]);
    expect(long("grok-4-fast", 128_001)).toEqual([0.0512004, 0.001]);
  });

  it.each(listCorrections.flatMap((correction) => correction.models.map((id) => [id, correction] as const)))(
    "is still needed for %s: delete it when the list has caught up",
    (id, { periods }) => {
      const long = usageOf({ promptTokens: 250_000, cacheReadTokens: 10_000, completionTokens: 1_000 });
      const differs = periods.some(({ from }) =>
        [1, 26, 50].some((hours) => {
          const at = Date.parse(from) + hours * 3_600_000;
          const as = (prices: BuiltInPrices) =>
            JSON.stringify(costOfCall(long, prices.find(id)?.schedule.ratesAt(at) ?? null));
          return as(corrected) !== as(uncorrected);
        }),
      );
      expect(differs).toBe(true);
    },
  );

  it("keeps its periods in order, with a source and the day of the last look", () => {
    for (const { periods, source, checked, why } of listCorrections) {
      expect(periods.map(({ from }) => from)).toEqual(periods.map(({ from }) => from).toSorted());
      expect(source).toMatch(/^https:\/\//);
      expect(checked).toMatch(/^20\d\d-\d\d-\d\d$/);
      expect(why).not.toBe("");
    }
  });
});
