import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { priceQuantities } from "../../../src/usage-rollup/priced-sums.ts";
import { recordUsageOf, type UsageRecord } from "../../../src/usage-rollup/usage-record.ts";
import { priceBreakpoints } from "../../../src/usage-rollup/price-breakpoints.ts";
import { parsePriceKey } from "../../../src/usage-rollup/price-key.ts";
import { parseServedModels, servedModelsOf } from "../../../src/usage-rollup/served-models.ts";
import { costFields } from "../../../src/prices/cost-fields.ts";
import { costOfCall } from "../../../src/prices/cost-of-call.ts";
import type { PriceBook } from "../../../src/prices/price-book.ts";
import type { Rates, TokenPrices } from "../../../src/prices/rates.ts";
import { COUNT_SLOTS, countRow } from "../../../src/usage/count-fields.ts";
import type { Usage } from "../../../src/usage/usage.ts";
import { seededRandom } from "../../helpers/seeded-random.ts";

const { seed } = seededRandom();
const SIZES = [10_000, 200_000];
const CHANGE_US = 5_000_000;

/** Favours `one`, so that many usages are equal. */
function mostly<One, Other>(one: One, others: fc.Arbitrary<Other>): fc.Arbitrary<One | Other> {
  return fc.oneof({ weight: 3, arbitrary: fc.constant(one) }, { weight: 1, arbitrary: others });
}
const count = fc.oneof({ weight: 1, arbitrary: fc.constant(0) }, { weight: 4, arbitrary: fc.nat(300_000) });
const units = fc.record(
  {
    input_audio_tokens: fc.integer({ min: 1, max: 900 }),
    cache_write_1h_tokens: fc.integer({ min: 1, max: 900 }),
    web_searches: fc.integer({ min: 1, max: 9 }),
  },
  { requiredKeys: [] },
);
const usage: fc.Arbitrary<Usage> = fc.record({
  llm: mostly("a", fc.constantFrom("b", 'l"m\n')),
  service: mostly(
    undefined,
    fc.constantFrom({ provider: "somebody", tier: "" }, { provider: "", tier: "flex" }),
  ),
  requests: fc.nat(2),
  promptTokens: count,
  completionTokens: count,
  totalTokens: count,
  cacheReadTokens: mostly(0, count),
  cacheCreationTokens: mostly(0, count),
  cacheOutsidePrompt: fc.boolean(),
  units: mostly(
    undefined,
    units.filter((some) => Object.keys(some).length > 0),
  ),
});

const price = fc.oneof(fc.constant(null), fc.nat(1_000_000));
const prices: fc.Arbitrary<TokenPrices> = fc.record(
  {
    prompt: price,
    completion: price,
    cacheRead: price,
    cacheCreation: price,
    units: fc.record({ web_searches: fc.nat(1000), input_audio_tokens: fc.nat(1000) }, { requiredKeys: [] }),
    request: fc.nat(1000),
  },
  { requiredKeys: ["prompt", "completion", "cacheRead", "cacheCreation"] },
);
/** Prices with three tiers. */
const rates: fc.Arbitrary<Rates> = fc.tuple(prices, prices, prices).map(([base, ...tiers]) => ({
  base,
  tiers: tiers.map((of, place) => ({ aboveTokens: SIZES[place]!, prices: of })),
}));

/** Price book in which every LLM but "b" has these prices, changed at `CHANGE_US`. */
function bookOf(before: Rates, after: Rates): Pick<PriceBook, "ratesAt" | "nextPriceChange"> {
  return {
    ratesAt: (llm, atUs) => (llm === "b" ? null : atUs < CHANGE_US ? before : after),
    nextPriceChange: (_, atUs) => (atUs < CHANGE_US ? CHANGE_US : Infinity),
  };
}

interface Used {
  readonly usage: Usage;
  readonly atUs: number;
}

describe("usages with one price key", () => {
  it("cost as a sum what each of them costs, and have either all costs or none", () => {
    const seen = { together: 0 };
    const used = fc.record({ usage, atUs: fc.nat(10_000_000) });
    fc.assert(
      fc.property(fc.array(used, { minLength: 1, maxLength: 30 }), rates, rates, (all, before, after) => {
        const book = bookOf(before, after) as PriceBook;
        const records = all.map((one) => recordUsageOf(one.usage) as UsageRecord);
        const served = parseServedModels(servedModelsOf(records));
        const breakpoints = priceBreakpoints(book, served, { fromUs: 0, toUs: 10_000_000 })!;
        const keyOf = ({ usage: one, atUs }: Used): string => {
          const record = recordUsageOf(one)!;
          const tier = breakpoints.inputs.filter((input) => record.input_tokens > input).length;
          return `${tier} ${breakpoints.instantsUs.findLast((cut) => cut <= atUs) ?? 0} ${record.price_key}`;
        };
        for (const [key, same] of Map.groupBy(all, keyOf)) {
          if (same.length > 1) seen.together++;
          const tier = Number.parseInt(key, 10);
          const at = { book, atUs: same[0]!.atUs, input: breakpoints.inputs[tier] ?? breakpoints.maxInput };
          const aggregate = priceQuantities(
            parsePriceKey(recordUsageOf(same[0]!.usage)!.price_key),
            summed(same),
            at,
          );
          const costs = same.map((one) =>
            costOfCall(one.usage, book.ratesAt(one.usage.llm, one.atUs, undefined)),
          );
          for (const [slot, { kind }] of costFields.entries()) {
            const products = aggregate.costs![slot]!;
            expect(costs.map((cost) => cost[kind] === null)).toEqual(costs.map(() => products === null));
            const sum = costs.reduce((total, cost) => total + (cost[kind] ?? 0), 0);
            if (products !== null)
              expect(products.reduce((total, one) => total + one.quantity * one.price, 0)).toBe(sum);
          }
        }
      }),
      { seed, numRuns: 500 },
    );
    expect(seen.together).toBeGreaterThan(30);
  });

  it("are rejected if a count is too large to be stored exactly", () => {
    const large = {
      requests: 1,
      promptTokens: 2 ** 53,
      completionTokens: 0,
      totalTokens: 0,
      cacheReadTokens: 0,
    };
    expect(
      recordUsageOf({
        ...large,
        cacheCreationTokens: 0,
        cacheOutsidePrompt: false,
        llm: "a",
        units: undefined,
        service: undefined,
      }),
    ).toBeUndefined();
  });
});

/** Sums records as ClickHouse does. */
function summed(all: readonly Used[]) {
  const records = all.map((one) => recordUsageOf(one.usage)!);
  const sum = (of: (place: number) => number): number =>
    records.reduce((total, _, place) => total + of(place), 0);
  return {
    records: all.length,
    counts: Float64Array.from({ length: COUNT_SLOTS }, (_, slot) =>
      sum((place) => countRow(all[place]!.usage)[slot]!),
    ),
    uncached: sum((place) => records[place]!.uncached_prompt_tokens),
    chargedRequests: sum((place) => records[place]!.billed_requests),
    units: records[0]!.units.map((_, unit) => sum((place) => records[place]!.units[unit]!)),
  };
}
