import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { costFields } from "../../../src/prices/cost-fields.ts";
import { costOfCall } from "../../../src/prices/cost-of-call.ts";
import {
  chargedOf,
  costOfAggregate,
  costOfEqual,
  usedKindsOf,
  type AggregateCost,
  type Charged,
} from "../../../src/prices/cost-of-aggregate.ts";
import type { Rates, TokenPrices } from "../../../src/prices/rates.ts";
import { addUnits, type UnitCounts } from "../../../src/usage/units.ts";
import { seededRandom } from "../../helpers/seeded-random.ts";
import type { PricedUsage } from "../../../src/usage/usage.ts";

const { seed } = seededRandom();
const count = fc.oneof(fc.constant(0), fc.nat(5000));
const price = fc.oneof(fc.constant(null), fc.nat(1_000_000));

/** Often parts of the counts beside them, sometimes more than these. */
const units = fc.record(
  {
    output_reasoning_tokens: fc.integer({ min: 1, max: 3000 }),
    output_audio_tokens: fc.integer({ min: 1, max: 2000 }),
    input_audio_tokens: fc.integer({ min: 1, max: 2000 }),
    cache_audio_read_tokens: fc.integer({ min: 1, max: 500 }),
    cache_write_1h_tokens: fc.integer({ min: 1, max: 3000 }),
    web_searches: fc.integer({ min: 1, max: 9 }),
  },
  { requiredKeys: [] },
);

const usage: fc.Arbitrary<PricedUsage> = fc.record({
  requests: fc.nat(2),
  promptTokens: count,
  completionTokens: count,
  totalTokens: count,
  cacheReadTokens: count,
  cacheCreationTokens: count,
  cacheOutsidePrompt: fc.boolean(),
  units: fc.option(units, { nil: undefined }),
});
const unitPrice = fc.nat(1_000_000);
const prices: fc.Arbitrary<TokenPrices> = fc.record(
  {
    prompt: price,
    completion: price,
    cacheRead: price,
    cacheCreation: price,
    request: fc.nat(1000),
    units: fc.record(
      {
        output_reasoning_tokens: unitPrice,
        output_audio_tokens: unitPrice,
        input_audio_tokens: unitPrice,
        cache_audio_read_tokens: unitPrice,
        cache_write_1h_tokens: unitPrice,
        web_searches: unitPrice,
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ["prompt", "completion", "cacheRead", "cacheCreation"] },
);

function added(all: readonly Charged[]): Charged {
  return {
    tokens: all[0]!.tokens.map((_, slot) => all.reduce((sum, { tokens }) => sum + tokens[slot]!, 0)),
    units: all.reduce<UnitCounts>((sum, one) => addUnits(sum, one.units) ?? {}, {}),
    requests: all.reduce((sum, { requests }) => sum + requests, 0),
  };
}

function dollars(cost: AggregateCost[number]): number | null {
  return cost && cost.reduce((sum, product) => sum + product.quantity * product.price, 0);
}

describe("costs of summed usage", () => {
  it("are the sums of the single costs, and known if those are", () => {
    const seen = { withUnits: 0, apart: 0 };
    fc.assert(
      fc.property(fc.array(usage, { minLength: 1, maxLength: 30 }), fc.option(prices), (usages, base) => {
        const rates: Rates | null = base === null ? null : { base, tiers: [] };
        for (const [kinds, same] of byKinds(usages)) {
          if (kinds === undefined) {
            seen.apart += same.length;
            continue;
          }
          if (kinds.units.length > 0) seen.withUnits += same.length;
          const costs = same.map((one) => costOfCall(one, rates));
          const cell = costOfAggregate(added(same.map(chargedOf)), kinds, base);
          for (const [slot, { kind }] of costFields.entries()) {
            const known = costs.map((cost) => cost[kind]);
            const cost = dollars(cell[slot]!);
            if (cost === null) expect(known).toEqual(known.map(() => null));
            else expect(cost).toBe(known.reduce<number>((sum, one) => sum + one!, 0));
            expect(known.includes(null)).toBe(cost === null);
          }
        }
      }),
      { seed, numRuns: 1000 },
    );
    expect(seen.withUnits).toBeGreaterThan(50);
    expect(seen.apart).toBeGreaterThan(1000);
  });

  it("are not computed if units exceed the tokens that include them", () => {
    const plain = { requests: 1, promptTokens: 10, completionTokens: 5, totalTokens: 15 };
    const one = { ...plain, cacheReadTokens: 0, cacheCreationTokens: 0, cacheOutsidePrompt: false };
    const kinds = (counts: UnitCounts) => usedKindsOf(chargedOf({ ...one, units: counts }));
    expect(kinds({ output_reasoning_tokens: 5 })).toEqual({
      tokens: 3,
      plain: 1,
      units: ["output_reasoning_tokens"],
    });
    expect(kinds({ output_reasoning_tokens: 6 })).toBeUndefined();
    expect(kinds({ input_audio_tokens: 3, cache_audio_read_tokens: 3 })).toBeUndefined();
  });

  it("are proportional to the number of equal usages", () => {
    const cost = { prompt: 3, completion: null, cacheRead: 0, cacheCreation: null, other: 7 };
    expect(costOfEqual(5, cost).map(dollars)).toEqual([15, null, 0, null, 35]);
  });
});

function byKinds(usages: readonly PricedUsage[]) {
  const groups = Map.groupBy(usages, (one) => JSON.stringify(usedKindsOf(chargedOf(one)) ?? null));
  return [...groups.values()].map((same) => [usedKindsOf(chargedOf(same[0]!)), same] as const);
}
