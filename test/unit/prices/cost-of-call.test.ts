import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CallCost } from "../../../src/prices/cost-fields.ts";
import { costOfCall, unknownCost } from "../../../src/prices/cost-of-call.ts";
import { picodollars } from "../../../src/prices/picodollars.ts";
import type { Rates, TokenPrices } from "../../../src/prices/rates.ts";
import { usageOf } from "./usage.ts";

const perMillion = (base: TokenPrices, tiers: Rates["tiers"] = []): Rates => ({
  base: inPicodollars(base),
  tiers: tiers.map((tier) => ({ ...tier, prices: inPicodollars(tier.prices) })),
});
/** A dollar for a million tokens is a million picodollars for one. */
function inPicodollars(usd: TokenPrices): TokenPrices {
  const prices = Object.entries(usd).map(([kind, price]) => [
    kind,
    price === null ? null : price * 1_000_000,
  ]);
  return Object.fromEntries(prices) as TokenPrices;
}
// The list prices of the day, written out here, so that an update of the list does not change these sums.
const tiered = perMillion({ prompt: 1.25, completion: 10, cacheRead: 0.125, cacheCreation: 1.25 }, [
  { aboveTokens: 200_000, prices: { prompt: 2.5, completion: 15, cacheRead: 0.25, cacheCreation: 2.5 } },
]);

/** From USD, which have no more than six digits here. */
const costs = (prompt: number, completion: number, cacheRead: number, cacheCreation: number): CallCost => ({
  prompt: Math.round(prompt * 1e12),
  completion: Math.round(completion * 1e12),
  cacheRead: Math.round(cacheRead * 1e12),
  cacheCreation: Math.round(cacheCreation * 1e12),
  other: 0,
});

describe("costOfCall", () => {
  it("treats more cached than prompt tokens as excluded from the prompt, and charges no negative cost", () => {
    const usage = usageOf({ promptTokens: 50, cacheReadTokens: 100_000, cacheCreationTokens: 2_000 });
    // 50 × $1.25/M; 100,000 × $0.125/M; 2,000 × $1.25/M
    expect(costOfCall(usage, tiered)).toEqual(costs(0.0000625, 0, 0.0125, 0.0025));
  });

  it("chooses the tier of several requests by their mean", () => {
    const usage = usageOf({ requests: 3, promptTokens: 300_000 });
    // Three requests of 100,000: 300,000 × $1.25/M = $0.375
    expect(costOfCall(usage, tiered)).toEqual(costs(0.375, 0, 0, 0));
  });

  it("returns null, not 0, for an unknown model, also without usage", () => {
    expect(costOfCall(usageOf({ promptTokens: 10 }), null)).toEqual(unknownCost);
    expect(costOfCall(usageOf({}), null)).toEqual(unknownCost);
    expect(Object.values(unknownCost)).toEqual([null, null, null, null, null]);
  });

  it("returns null if nothing that was used has a price", () => {
    const embedding = perMillion({ prompt: 0.02, completion: null, cacheRead: 0.02, cacheCreation: 0.02 });
    expect(costOfCall(usageOf({ completionTokens: 3 }), embedding)).toEqual(unknownCost);
    expect(costOfCall(usageOf({ units: { web_searches: 1 } }), embedding)).toEqual(unknownCost);
    expect(costOfCall(usageOf({}), embedding).prompt).toBe(0);
    const free = perMillion({ prompt: 0, completion: null, cacheRead: 0, cacheCreation: 0 });
    expect(costOfCall(usageOf({ promptTokens: 1, completionTokens: 3 }), free)).toMatchObject({
      prompt: 0,
      completion: null,
      other: 0,
    });
    expect(costOfCall(usageOf({ promptTokens: 1, completionTokens: 3 }), embedding)).toMatchObject({
      prompt: 20_000,
      completion: null,
      cacheRead: 0,
    });
  });

  it("returns null for kinds of tokens without a price, and 0 if none were used", () => {
    const embedding = perMillion({ prompt: 0.02, completion: null, cacheRead: 0.02, cacheCreation: 0.02 });
    expect(costOfCall(usageOf({ promptTokens: 5_000 }), embedding)).toEqual(costs(0.0001, 0, 0, 0));
    expect(
      costOfCall(usageOf({ promptTokens: 5_000, completionTokens: 1 }), embedding).completion,
    ).toBeNull();
  });
});

describe("sums of costs", () => {
  it("are exact in any order, for published prices", () => {
    const tokens = fc.array(fc.nat(1_000_000), { maxLength: 100 });
    // USD per million tokens with up to six digits after the point, as 18.75 or 0.075
    fc.assert(
      fc.property(tokens, fc.nat(100_000_000), (counts, millionths) => {
        const price = picodollars(millionths / 1_000_000, 1_000_000);
        const rates: Rates = {
          base: { prompt: price, completion: price, cacheRead: price, cacheCreation: price },
          tiers: [],
        };
        const sum = counts.reduce(
          (total, promptTokens) => total + costOfCall(usageOf({ promptTokens }), rates).prompt!,
          0,
        );
        const exact = counts.reduce((total, count) => total + BigInt(count) * BigInt(millionths), 0n);
        if (exact <= BigInt(Number.MAX_SAFE_INTEGER)) expect(BigInt(sum)).toBe(exact);
        else expect(Math.abs(sum / Number(exact) - 1)).toBeLessThan(1e-12);
      }),
    );
  });

  it("are as exact as the price if it is finer than a picodollar", () => {
    expect(picodollars(1.5e-13, 1)).toBeCloseTo(0.15, 12);
    expect(picodollars(1e-13, 1_000_000)).toBeCloseTo(1e-7, 15);
    expect(picodollars(0, 1)).toBe(0);
  });

  it("are equal for a price per token and per million tokens", () => {
    fc.assert(
      fc.property(fc.nat(1_000_000_000), (whole) => {
        expect(picodollars(whole / 1e12, 1)).toBe(whole);
        expect(picodollars(whole / 1e6, 1_000_000)).toBe(whole);
      }),
    );
  });
});
