import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PricedUsage } from "../../../src/usage/usage.ts";
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
const gpt4o = perMillion({ prompt: 2.5, completion: 10, cacheRead: 1.25, cacheCreation: 2.5 });
const sonnet = perMillion({ prompt: 3, completion: 15, cacheRead: 0.3, cacheCreation: 3.75 });
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

describe("costOfCall by hand", () => {
  it("takes OpenAI's cached tokens off the prompt, which includes them", () => {
    const usage = usageOf({ promptTokens: 12_000, cacheReadTokens: 9_000, completionTokens: 500 });
    // 3,000 uncached × $2.50/M = $0.0075; 500 × $10/M = $0.005; 9,000 × $1.25/M = $0.01125
    expect(costOfCall(usage, gpt4o)).toEqual(costs(0.0075, 0.005, 0.01125, 0));
  });

  it("takes nothing off Anthropic's input tokens, which stand beside the cache tokens", () => {
    const usage = usageOf({
      promptTokens: 2_000,
      cacheReadTokens: 1_000,
      cacheCreationTokens: 400,
      completionTokens: 100,
      cacheOutsidePrompt: true,
    });
    // 2,000 × $3/M = $0.006; 100 × $15/M = $0.0015; 1,000 × $0.30/M = $0.0003; 400 × $3.75/M = $0.0015
    expect(costOfCall(usage, sonnet)).toEqual(costs(0.006, 0.0015, 0.0003, 0.0015));
  });

  it("sees by more cache than prompt tokens that they stand beside, and charges no negative cost", () => {
    const usage = usageOf({
      promptTokens: 50,
      cacheReadTokens: 100_000,
      cacheCreationTokens: 2_000,
    });
    // 50 × $3/M = $0.00015; 100,000 × $0.30/M = $0.03; 2,000 × $3.75/M = $0.0075
    expect(costOfCall(usage, sonnet)).toEqual(costs(0.00015, 0, 0.03, 0.0075));
  });

  it("charges nothing for the prompt when all of it came from the cache", () => {
    const usage = usageOf({
      promptTokens: 1_000,
      cacheReadTokens: 600,
      cacheCreationTokens: 400,
    });
    expect(costOfCall(usage, sonnet)).toEqual(costs(0, 0, 0.00018, 0.0015));
  });

  it("charges all tokens of a request at the price of its tier, from one token above it on", () => {
    const at = usageOf({ promptTokens: 200_000, completionTokens: 1_000 });
    const above = usageOf({ promptTokens: 200_001, completionTokens: 1_000 });
    // 200,000 × $1.25/M = $0.25 and 1,000 × $10/M = $0.01; 200,001 × $2.50/M = $0.5000025 and 1,000 × $15/M = $0.015
    expect(costOfCall(at, tiered)).toEqual(costs(0.25, 0.01, 0, 0));
    expect(costOfCall(above, tiered)).toEqual(costs(0.5000025, 0.015, 0, 0));
  });

  it("counts cache tokens towards the tier, whichever way they are reported", () => {
    const cached = { cacheReadTokens: 150_000, cacheCreationTokens: 0 };
    const inside = usageOf({ promptTokens: 250_000, ...cached });
    const beside = usageOf({ promptTokens: 100_000, ...cached, cacheOutsidePrompt: true });
    // 100,000 × $2.50/M = $0.25; 150,000 × $0.25/M = $0.0375
    expect(costOfCall(inside, tiered)).toEqual(costs(0.25, 0, 0.0375, 0));
    expect(costOfCall(beside, tiered)).toEqual(costs(0.25, 0, 0.0375, 0));
  });

  it("takes the mean request of a usage of several requests to its tier", () => {
    const usage = usageOf({ requests: 3, promptTokens: 300_000 });
    // Three requests of 100,000: 300,000 × $1.25/M = $0.375
    expect(costOfCall(usage, tiered)).toEqual(costs(0.375, 0, 0, 0));
  });

  it("says null, not 0, for an unknown model, also for one that used nothing", () => {
    expect(costOfCall(usageOf({ promptTokens: 10 }), null)).toEqual(unknownCost);
    expect(costOfCall(usageOf({}), null)).toEqual(unknownCost);
    expect(Object.values(unknownCost)).toEqual([null, null, null, null, null]);
  });

  it("says null, not the sum of what was not used, where nothing that was used has a price", () => {
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

  it("says null for the tokens alone that have no price, and 0 where there are none of them", () => {
    const embedding = perMillion({ prompt: 0.02, completion: null, cacheRead: 0.02, cacheCreation: 0.02 });
    expect(costOfCall(usageOf({ promptTokens: 5_000 }), embedding)).toEqual(costs(0.0001, 0, 0, 0));
    expect(
      costOfCall(usageOf({ promptTokens: 5_000, completionTokens: 1 }), embedding).completion,
    ).toBeNull();
  });
});

describe("costOfCall of any usage", () => {
  const tokens = fc.oneof(fc.nat(1_000), fc.nat(1_000_000), fc.nat(2 ** 40));
  const anyUsage: fc.Arbitrary<PricedUsage> = fc.record({
    requests: fc.nat(5),
    promptTokens: tokens,
    completionTokens: tokens,
    totalTokens: tokens,
    cacheReadTokens: tokens,
    cacheCreationTokens: tokens,
    cacheOutsidePrompt: fc.boolean(),
  });
  const price = fc.oneof(fc.nat(1_000_000_000), fc.double({ min: 0, max: 1_000_000_000, noNaN: true }));
  const prices = fc.record({ prompt: price, completion: price, cacheRead: price, cacheCreation: price });
  const tiers = fc
    .uniqueArray(fc.record({ aboveTokens: fc.nat(1_000_000), prices }), {
      selector: (tier) => tier.aboveTokens,
      maxLength: 3,
    })
    .map((unsorted) => unsorted.toSorted((left, right) => left.aboveTokens - right.aboveTokens));
  const anyRates: fc.Arbitrary<Rates> = fc.record({
    base: prices,
    tiers,
  });

  it("is per kind of token a finite number that is not negative, or null where its price is not known", () => {
    fc.assert(
      fc.property(anyUsage, anyRates, fc.boolean(), (usage, rates, isUnknown) => {
        const { completionTokens } = usage;
        const known = costOfCall(usage, rates);
        const partly = costOfCall(usage, { ...rates, base: { ...rates.base, completion: null }, tiers: [] });
        expect(partly.completion === null).toBe(completionTokens > 0);
        for (const cost of Object.values(isUnknown ? costOfCall(usage, null) : known)) {
          expect(cost === null).toBe(isUnknown);
          expect(Number.isFinite(cost ?? 0)).toBe(true);
          expect(cost ?? 0).toBeGreaterThanOrEqual(0);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("grows with every kind of token while the tier and the convention stay", () => {
    const flat = anyRates.map((rates) => ({ ...rates, tiers: [] }));
    const counted = fc.constantFrom(
      "promptTokens",
      "completionTokens",
      "cacheReadTokens",
      "cacheCreationTokens",
    );
    const total = (usage: PricedUsage, rates: Rates): number =>
      Object.values(costOfCall(usage, rates)).reduce<number>((sum, cost) => sum + (cost ?? 0), 0);
    fc.assert(
      fc.property(anyUsage, flat, counted, fc.nat(100_000), (usage, rates, field, more) => {
        const before = { ...usage, cacheOutsidePrompt: true };
        const after = { ...before, [field]: before[field] + more };
        expect(total(after, rates)).toBeGreaterThanOrEqual(total(before, rates));
      }),
      { numRuns: 500 },
    );
  });

  it("is the same for both conventions of the same request", () => {
    fc.assert(
      fc.property(anyUsage, anyRates, (usage, rates) => {
        const beside = { ...usage, cacheOutsidePrompt: true };
        const cached = usage.cacheReadTokens + usage.cacheCreationTokens;
        const inside = {
          ...usage,
          cacheOutsidePrompt: false,
          promptTokens: usage.promptTokens + cached,
        };
        expect(costOfCall(inside, rates)).toEqual(costOfCall(beside, rates));
      }),
      { numRuns: 500 },
    );
  });
});

describe("sums of costs", () => {
  it("are exact in any order, for prices as they are published", () => {
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

  it("are as good as the price for one that is finer than a picodollar", () => {
    expect(picodollars(1.5e-13, 1)).toBeCloseTo(0.15, 12);
    expect(picodollars(1e-13, 1_000_000)).toBeCloseTo(1e-7, 15);
    expect(picodollars(0, 1)).toBe(0);
  });

  it("take a price per token and one per million tokens as the same", () => {
    fc.assert(
      fc.property(fc.nat(1_000_000_000), (whole) => {
        expect(picodollars(whole / 1e12, 1)).toBe(whole);
        expect(picodollars(whole / 1e6, 1_000_000)).toBe(whole);
      }),
    );
  });
});
