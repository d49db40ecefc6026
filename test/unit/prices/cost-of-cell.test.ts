import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { costFields } from "../../../src/prices/cost-fields.ts";
import { costOfCall } from "../../../src/prices/cost-of-call.ts";
import {
  chargedOf,
  costOfCell,
  costOfEqual,
  usedKindsOf,
  type Charged,
} from "../../../src/prices/cost-of-cell.ts";
import type { Rates, TokenPrices } from "../../../src/prices/rates.ts";
import { seededRandom } from "../../helpers/seeded-random.ts";
import type { PricedUsage } from "../../../src/usage/usage.ts";

const { seed } = seededRandom();
const count = fc.oneof(fc.constant(0), fc.nat(5000));
const price = fc.oneof(fc.constant(null), fc.nat(1_000_000));

const usage: fc.Arbitrary<PricedUsage> = fc.record({
  requests: fc.nat(2),
  promptTokens: count,
  completionTokens: count,
  totalTokens: count,
  cacheReadTokens: count,
  cacheCreationTokens: count,
  cacheOutsidePrompt: fc.boolean(),
});
const prices: fc.Arbitrary<TokenPrices> = fc.record(
  { prompt: price, completion: price, cacheRead: price, cacheCreation: price, request: fc.nat(1000) },
  { requiredKeys: ["prompt", "completion", "cacheRead", "cacheCreation"] },
);

function added(all: readonly Charged[]): Charged {
  const sum = (name: keyof Charged): number => all.reduce((total, one) => total + one[name], 0);
  return {
    uncached: sum("uncached"),
    completion: sum("completion"),
    cacheRead: sum("cacheRead"),
    cacheCreation: sum("cacheCreation"),
    requests: sum("requests"),
  };
}

describe("the costs of usages that are added up", () => {
  it("are the sums of the costs of each, and known where theirs are", () => {
    fc.assert(
      fc.property(fc.array(usage, { minLength: 1, maxLength: 30 }), fc.option(prices), (usages, base) => {
        const rates: Rates | null = base === null ? null : { base, tiers: [] };
        for (const same of Map.groupBy(usages, (one) => usedKindsOf(chargedOf(one))).values()) {
          const costs = same.map((one) => costOfCall(one, rates));
          const cell = costOfCell(added(same.map(chargedOf)), base);
          for (const [slot, { kind }] of costFields.entries()) {
            const known = costs.map((cost) => cost[kind]);
            const product = cell[slot]!;
            if (product === null) expect(known).toEqual(known.map(() => null));
            else
              expect(product.quantity * product.price).toBe(
                known.reduce<number>((sum, one) => sum + one!, 0),
              );
            expect(known.includes(null)).toBe(product === null);
          }
        }
      }),
      { seed, numRuns: 500 },
    );
  });

  it("are so many times the cost of one where all are equal", () => {
    const cost = { prompt: 3, completion: null, cacheRead: 0, cacheCreation: null, other: 7 };
    const products = costOfEqual(5, cost).map((one) => (one === null ? null : one.quantity * one.price));
    expect(products).toEqual([15, null, 0, null, 35]);
  });
});
