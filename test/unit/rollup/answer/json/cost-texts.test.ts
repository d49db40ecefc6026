import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ByteWriter } from "../../../../../src/rollup/answer/bytes/byte-writer.ts";
import { writeCosts } from "../../../../../src/rollup/answer/json/cost-texts.ts";
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

describe("the costs of an entry", () => {
  it("are written as dollars, every digit of them", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(cost, cost, cost, cost), { maxLength: 30 }), (entries) => {
        const writer = new ByteWriter();
        for (const costs of entries) {
          writeCosts(Float64Array.of(0, ...costs), 1, { writer, printed: "tokens" });
          const expected = costs
            .map((one, slot) => `,"${tokenCostFields[slot]!.wire}":${written(one)}`)
            .join("");
          expect(writer.take().toString()).toBe(expected);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
