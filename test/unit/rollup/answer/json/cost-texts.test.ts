import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ByteWriter } from "../../../../../src/rollup/answer/bytes/byte-writer.ts";
import { CostTexts } from "../../../../../src/rollup/answer/json/cost-texts.ts";
import { tokenCostFields } from "../../../../../src/prices/cost-fields.ts";

/** Whole picodollars that end with some zeros, from nothing to more than nine dollars. */
const whole = fc
  .tuple(fc.integer({ min: 0, max: 7 }), fc.integer({ min: 0, max: 12 }))
  .chain(([digits, zeros]) => fc.nat(10 ** digits).map((significant) => significant * 10 ** zeros))
  .filter(Number.isSafeInteger);
const cost = fc.oneof(
  { weight: 8, arbitrary: whole },
  { weight: 1, arbitrary: fc.double({ min: 0, max: 1e13, noNaN: true }) },
  fc.constantFrom(Number.NaN, 0, 1, 999_999, 1_000_000, 1_000_001, 1e12 - 1, 1e12, 2 ** 53, 2 ** 60),
);

/** The shortest decimal number that is exactly so many picodollars. */
function exactly(picodollars: number): string {
  const digits = String(picodollars).padStart(13, "0");
  return `${digits.slice(0, -12)}.${digits.slice(-12)}`.replace(/\.?0*$/, "");
}

function written(costs: number): string {
  if (Number.isNaN(costs)) return "null";
  return Number.isSafeInteger(costs) ? exactly(costs) : String(costs / 1e12);
}

describe("CostTexts", () => {
  it("writes the dollars of every entry, whatever the entries before it cost", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(cost, cost, cost, cost), { maxLength: 30 }), (entries) => {
        const texts = new CostTexts();
        const writer = new ByteWriter();
        for (const costs of entries) {
          texts.write(Float64Array.of(0, ...costs), 1, writer);
          const expected = costs
            .map((one, slot) => `,"${tokenCostFields[slot]!.wire}":${written(one)}`)
            .join("");
          expect(writer.take().toString()).toBe(expected);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it("writes the same once it keeps no more templates", () => {
    const texts = new CostTexts();
    const writer = new ByteWriter();
    const places = [12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0];
    const amounts = places.map((place) => (place === 0 ? 0 : 10 ** (12 - place)));
    const all = amounts.flatMap((a) =>
      amounts.flatMap((b) => amounts.flatMap((c) => amounts.map((d) => [a, b, c, d]))),
    );
    for (const costs of all) {
      texts.write(Float64Array.from(costs), 0, writer);
      const text = writer.take().toString();
      const expected = costs.map((one, slot) => `,"${tokenCostFields[slot]!.wire}":${written(one)}`).join("");
      if (text !== expected) expect(text).toBe(expected);
    }
    expect(all).toHaveLength(28_561);
  });
});
