import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PER_USD } from "../../../src/prices/picodollars.ts";
import { atOnce } from "../../../src/shared/steps.ts";
import { Latencies, percentileOf } from "../../../src/stats/sums/latencies.ts";
import { Sums } from "../../../src/usage-rollup/sums.ts";
import { compareUsd, usdText } from "../../../src/prices/money.ts";
import { seededRandom } from "../../helpers/seeded-random.ts";

const { seed } = seededRandom();
const KINDS = 5;
const TOTAL = KINDS;

/** A usage, or several equal ones; of each cost how many picodollars one has, null if that is unknown. */
const usage = fc.record({
  row: fc.nat(3),
  counts: fc.array(fc.nat(10_000), { minLength: 6, maxLength: 6 }),
  // some of them alone are beyond 9,007 USD
  costs: fc.array(fc.option(fc.nat(2 ** 31 - 1).map((n) => n * 1_000_000)), {
    minLength: KINDS,
    maxLength: KINDS,
  }),
  times: fc.integer({ min: 1, max: 5000 }),
  latency: fc.option(fc.integer({ min: -5, max: 100_000 })),
});
type Used = typeof usage extends fc.Arbitrary<infer One> ? One : never;

/** Adds a usage by itself, as often as there are of it, or all of them as a product. */
function add(sums: Sums, { row, counts, costs, times, latency }: Used, isCell: boolean): void {
  const rows = isCell ? 1 : times;
  for (let one = 0; one < rows; one++) {
    sums.addUsage(
      row,
      Float64Array.from(counts, (n) => n * (isCell ? times : 1)),
      0,
    );
    if (isCell)
      sums.addSummedCosts(
        row,
        costs.map((price) => (price === null ? null : [{ quantity: times, price }])),
      );
    else
      sums.addCosts(
        row,
        Float64Array.from(costs, (cost) => cost ?? Number.NaN),
      );
  }
  sums.addCalls(row, times, 0);
  if (latency !== null)
    sums.addLatencies(row, { count: 2, sum: latency, min: latency - 9, max: latency + 9 });
}

describe("sums", () => {
  it("are exact to the picodollar, for any order and any intermediate rows", () => {
    const small = usage.map((one) => ({ ...one, times: 1 + (one.times % 5) }));
    fc.assert(
      fc.property(
        fc.array(fc.tuple(small, fc.boolean()), { maxLength: 30 }),
        fc.array(fc.nat(1000), { minLength: 30, maxLength: 30 }),
        (all, shuffle) => {
          const sums = Sums.ofRows(4, { withCosts: true });
          const order = all
            .map((one, place) => [one, shuffle[place]!] as const)
            .sort(([, a], [, b]) => a - b);
          for (const [[one, isCell]] of order) add(sums, one, isCell);
          const together = Sums.ofRows(1, { withCosts: true });
          for (let row = 0; row < 4; row++) together.addFrom(sums, row, 0);
          for (let slot = 0; slot < KINDS; slot++) {
            const known = all.filter(([{ costs }]) => costs[slot] !== null);
            const sum = known.reduce(
              (total, [one]) => total + BigInt(one.costs[slot]!) * BigInt(one.times),
              0n,
            );
            const found = together.costOf(0, slot);
            if (all.length > 0 && known.length === 0) expect(found).toBeNull();
            else expect(BigInt(found!.dollars) * BigInt(PER_USD) + BigInt(found!.picodollars)).toBe(sum);
          }
          const ofCosts = Array.from({ length: KINDS }, (_, slot) => together.costOf(0, slot));
          const total = together.costOf(0, TOTAL);
          expect(total === null).toBe(ofCosts.every((cost) => cost === null));
          expect(together.countOf(0, 0)).toBe(all.reduce((sum, [{ times }]) => sum + times, 0));
          const latencies = all.flatMap(([{ latency }]) => latency ?? []);
          if (latencies.length > 0)
            expect(together.latenciesOf(0)).toEqual({
              count: latencies.length * 2,
              sum: latencies.reduce((sum, ms) => sum + ms, 0),
              min: Math.min(...latencies) - 9,
              max: Math.max(...latencies) + 9,
            });
        },
      ),
      { seed, numRuns: 200 },
    );
  });
});

describe("an amount", () => {
  const amount = fc.record({ dollars: fc.nat(1_000_000), picodollars: fc.nat(PER_USD - 1) });

  it("is formatted with every digit", () => {
    fc.assert(
      fc.property(amount, (one) => {
        const [whole, rest = ""] = usdText(one).split(".");
        expect([Number(whole), Number(rest.padEnd(12, "0"))]).toEqual([one.dollars, one.picodollars]);
      }),
      { seed },
    );
  });

  it("is compared by dollars, then by picodollars", () => {
    fc.assert(
      fc.property(amount, amount, (one, other) => {
        const value = ({ dollars, picodollars }: typeof one): bigint =>
          BigInt(dollars) * BigInt(PER_USD) + BigInt(picodollars);
        expect(Math.sign(compareUsd(one, other))).toBe(
          Number(value(one) > value(other)) - Number(value(one) < value(other)),
        );
      }),
      { seed },
    );
  });
});

describe("percentiles", () => {
  it("cover the values of all aggregates of a row", () => {
    const value = fc.tuple(fc.nat(5), fc.integer({ min: -1000, max: 1000 }));
    // also more than the initial capacity
    const values = fc
      .tuple(fc.array(value, { maxLength: 60, size: "max" }), fc.constantFrom(1, 1, 60))
      .map(([some, times]) => Array.from({ length: times }, () => some).flat());
    fc.assert(
      fc.property(values, fc.nat(100), (all, percentile) => {
        const cells = new Latencies(10_000);
        for (const [cell, one] of all) cells.add(cell, one);
        const sorted = atOnce(cells.sortedRows((cell) => (cell === 5 ? -1 : cell % 2), 2));
        for (const row of [0, 1]) {
          const expected = all
            .flatMap(([cell, one]) => (cell !== 5 && cell % 2 === row ? [one] : []))
            .sort((a, b) => a - b);
          expect([...sorted.of(row)]).toEqual(expected);
          const place = ((expected.length - 1) * percentile) / 100;
          const [low, high] = [expected[Math.floor(place)]!, expected[Math.ceil(place)]!];
          const found = percentileOf(sorted.of(row), percentile);
          if (expected.length === 0) expect(found).toBeNull();
          else expect(found).toBeCloseTo(low + (high - low) * (place % 1), 9);
        }
      }),
      { seed },
    );
  });

  it("are rejected above the limit of values", () => {
    const cells = new Latencies(2);
    cells.add(0, 1);
    cells.add(0, 2);
    expect(() => cells.add(0, 3)).toThrow("Percentiles of more than 2 values");
  });
});
