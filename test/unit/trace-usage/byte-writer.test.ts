import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ByteWriter } from "../../../src/trace-usage/byte-writer.ts";

function dollars(picodollars: number): string {
  const writer = new ByteWriter();
  writer.dollars(picodollars);
  return writer.take().toString();
}

describe("dollars", () => {
  it.each([
    [0, "0"],
    [1, "0.000000000001"],
    [2_500_000, "0.0000025"],
    [307_500_000, "0.0003075"],
    [1e12, "1"],
    [10e12, "10"],
    [1_234_560_000_000_000, "1234.56"],
    [Number.MAX_SAFE_INTEGER, "9007.199254740991"],
    [2 ** 53, "9007.199254740992"],
    [1e18, "1000000"],
    [0.5, "5e-13"],
  ])("of %d picodollars are %s", (picodollars, text) => {
    expect(dollars(picodollars)).toBe(text);
  });

  it("are exact where picodollars are whole, and what JSON would say in any case", () => {
    const whole = fc.oneof(
      fc.maxSafeNat(),
      fc.nat(),
      fc.nat(1000).map((usd) => usd * 1e9),
    );
    fc.assert(
      fc.property(whole, (picodollars) => {
        const text = dollars(picodollars);
        const [units = "", fraction = ""] = text.split(".");
        expect(BigInt(units + fraction.padEnd(12, "0"))).toBe(BigInt(picodollars));
        expect(text).not.toMatch(/\.$|\.\d*0$|^0\d/);
        expect(JSON.parse(text)).toBe(picodollars / 1e12);
      }),
      { numRuns: 2000 },
    );
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e30, noNaN: true }), (picodollars) => {
        expect(JSON.parse(dollars(picodollars))).toBe(picodollars / 1e12);
      }),
      { numRuns: 2000 },
    );
  });
});
