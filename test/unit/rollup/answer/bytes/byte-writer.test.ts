import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { viewOf } from "../../../../../src/shared/buffers.ts";
import { ByteWriter } from "../../../../../src/rollup/answer/bytes/byte-writer.ts";

function dollars(picodollars: number): string {
  const writer = new ByteWriter();
  writer.dollars(picodollars);
  return writer.take().toString();
}

describe("string", () => {
  it("writes what JSON would say, wherever the bytes stand", () => {
    const character = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.constantFrom(
          "a",
          "Z",
          "0",
          "-",
          " ",
          "!",
          "#",
          "[",
          "]",
          "é",
          "模",
          "😀",
          "\u007f",
          "\u0080",
        ),
      },
      fc.constantFrom("\u0000", "\u001f", '"', "\\", "\n"),
      fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
    );
    const text = fc.array(character, { maxLength: 40 }).map((some) => some.join("").toWellFormed());
    fc.assert(
      fc.property(text, fc.nat(9), (written, before) => {
        const source = Buffer.from(`${" ".repeat(before)}${written}"`);
        const writer = new ByteWriter();
        writer.string(viewOf(source), before, source.length - 1);
        expect(writer.take().toString()).toBe(JSON.stringify(written));
      }),
      { numRuns: 2000 },
    );
  });
});

describe("overwrite", () => {
  it("puts the digits of any number where they end", () => {
    const number = fc.integer({ min: 0, max: 9 }).chain((digits) => fc.nat(10 ** digits));
    fc.assert(
      fc.property(fc.oneof(number, fc.constantFrom(2 ** 31 - 1)), fc.nat(5), (value, after) => {
        const digits = String(value);
        const writer = new ByteWriter();
        writer.copy(Buffer.from(`.${"9".repeat(digits.length)}${"x".repeat(after)}`));
        writer.overwrite(after, value);
        expect(writer.take().toString()).toBe(`.${digits}${"x".repeat(after)}`);
      }),
      { numRuns: 2000 },
    );
  });
});

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
