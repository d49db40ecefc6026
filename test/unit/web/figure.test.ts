import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dollars, duration, plainDecimal, tokens } from "../../../web/numbers/figure.ts";

describe("tokens", () => {
  it.each([
    [0, "0"],
    [9_999, "9,999"],
    [12_345, "12.3 k"],
    [99_950, "100 k"],
    [999_499, "999 k"],
    [999_500, "1.00 M"],
    [4_560_000, "4.56 M"],
    [41_200_000, "41.2 M"],
    [1_234_567_890, "1.23 G"],
    [5e15, "5000 T"],
  ])("%d is %s", (count, text) => expect(tokens(count).text).toBe(text));

  it("is within half a percent of what it is short for, and exact on hover", () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (count) => {
        const { text, exact } = tokens(count);
        expect(Number(exact.replaceAll(",", ""))).toBe(count);
        const [digits, unit = ""] = text.replaceAll(",", "").split(" ");
        const shown = Number(digits) * { "": 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12 }[unit]!;
        expect(Math.abs(shown - count)).toBeLessThanOrEqual(count * 0.005);
      }),
    );
  });
});

describe("dollars", () => {
  it.each([
    [0, "$0"],
    [412.08, "$412.08"],
    [1234.5, "$1,234.50"],
    [4.112, "$4.11"],
    [0.0312, "$0.0312"],
    [0.03, "$0.0300"],
    [0.00000018, "$0.000000180"],
    [1e-12, "$0.00000000000100"],
    [-0.5, "−$0.500"],
  ])("%d is %s", (usd, text) => expect(dollars(usd).text).toBe(text));

  it("has three significant digits, and every digit on hover", () => {
    const costs = fc.double({ min: 1e-9, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(costs, (usd) => {
        const { text, exact } = dollars(usd);
        expect(Number(exact.slice(1))).toBe(usd);
        expect(exact).not.toContain("e");
        const shown = Number(text.slice(1).replaceAll(",", ""));
        expect(Math.abs(shown - usd)).toBeLessThanOrEqual(usd * 0.005 + 1e-14);
      }),
    );
  });
});

it("a decimal is written without an exponent", () => {
  expect(plainDecimal(1.5e-7)).toBe("0.00000015");
  expect(plainDecimal(12)).toBe("12");
});

it.each([
  [0, "0 ms"],
  [850, "850 ms"],
  [1000, "1.00 s"],
  [41_200, "41.2 s"],
  [99_949, "99.9 s"],
  [99_950, "1 min 40 s"],
  [185_000, "3 min 05 s"],
  [8_040_000, "2 h 14 min"],
  [7 * 86_400_000, "7 d"],
])("%d ms is %s", (ms, text) => expect(duration(ms).text).toBe(text));
