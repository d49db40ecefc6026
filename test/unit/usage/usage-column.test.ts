import { describe, expect, it } from "vitest";
import { decodeUsage, encodeUsage } from "../../../src/usage/usage-column.ts";
import fc from "fast-check";
import { unitCounts } from "../../models/forests.ts";

const text = fc.string({ unit: "grapheme" });

describe("encodeUsage", () => {
  it("round-trips with decodeUsage", () => {
    const count = fc.maxSafeNat();
    const usage = fc.record(
      {
        llm: text,
        requests: count,
        promptTokens: count,
        completionTokens: count,
        totalTokens: count,
        cacheReadTokens: count,
        cacheCreationTokens: count,
        cacheOutsidePrompt: fc.boolean(),
        units: unitCounts(count),
        service: fc
          .record({ provider: text, tier: text })
          .filter(({ provider, tier }) => provider !== "" || tier !== ""),
      },
      {
        requiredKeys: [
          "llm",
          "requests",
          "promptTokens",
          "completionTokens",
          "totalTokens",
          "cacheReadTokens",
          "cacheCreationTokens",
          "cacheOutsidePrompt",
        ],
      },
    );
    fc.assert(
      fc.property(fc.array(usage), (usages) => {
        expect(decodeUsage(encodeUsage(usages))).toEqual(usages);
      }),
    );
  });

  it("writes usage without units and provider in the format of earlier versions", () => {
    const column = '[["gpt-4o",1,10,2,12,0,0,0],["claude",1,3,2,5,50,7,1]]';
    expect(encodeUsage(decodeUsage(column))).toBe(column);
    expect(decodeUsage(column)[1]).toEqual({
      llm: "claude",
      requests: 1,
      promptTokens: 3,
      completionTokens: 2,
      totalTokens: 5,
      cacheReadTokens: 50,
      cacheCreationTokens: 7,
      cacheOutsidePrompt: true,
    });
  });
});
