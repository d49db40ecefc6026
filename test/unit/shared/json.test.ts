import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseJsonText } from "../../../src/shared/escaped-keys.ts";
import { isTooDeep, MAX_JSON_DEPTH, parseJson, stringifyJson } from "../../../src/shared/json.ts";

const roundTrip = (text: string): string => stringifyJson(parseJson(text));

describe("parseJson and stringifyJson", () => {
  it("round-trip any JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const text = JSON.stringify(value);
        expect(parseJsonText(roundTrip(text))).toEqual(parseJsonText(text));
      }),
    );
  });

  it.each([
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "9007199254740993",
    "[12345678901234567]",
  ])("keep every digit of %s", (text) => {
    expect(roundTrip(text)).toBe(text);
  });

  it.each([
    ["18446744073709551616", 18446744073709552000],
    ["-9223372036854775809", -9223372036854775808],
    ["1e400", null],
    ["-1e400", null],
  ])("make a double of %s, null if there is none", (text, value) => {
    expect(JSON.parse(roundTrip(text))).toBe(value);
  });

  it("read the bare NaN and Infinity of Python as null, outside strings", () => {
    expect(roundTrip('{"a":NaN,"b":[Infinity,-Infinity],"NaN":"Infinity \\" NaN"}')).toBe(
      '{"a":null,"b":[null,null],"NaN":"Infinity \\" NaN"}',
    );
  });

  it("replace lone surrogates and nothing similar", () => {
    expect(roundTrip(String.raw`["\ud83d","\ude00","\ud83d\ude00","\\ud83d","x\\\ud83dy"]`)).toBe(
      String.raw`["�","�","😀","\\ud83d","x\\�y"]`,
    );
  });

  it("keep keys such as __proto__", () => {
    const text = '{"__proto__":{"x":1},"constructor":2}';
    expect(roundTrip(text)).toBe(text);
    expect(({} as { x?: number }).x).toBeUndefined();
  });

  it.each(["", "{", "[1,]", "nope", '{"a":NaN', '"\\"'])("reject %j", (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });

  it("parse adversarial text within the time limit", () => {
    const hostile = [
      `"${'\\"'.repeat(500_000)}`,
      '"'.repeat(500_001),
      "9".repeat(1_000_000),
      `[${"-".repeat(500_000)}]`,
      `{"a":NaN,${'"\\\\'.repeat(300_000)}`,
    ];
    for (const text of hostile) {
      try {
        stringifyJson(parseJson(text));
      } catch (error) {
        expect(error).toBeInstanceOf(SyntaxError);
      }
    }
  });
});

describe("isTooDeep", () => {
  const nested = (levels: number): unknown => JSON.parse("[".repeat(levels) + "]".repeat(levels));
  it("allows the maximum depth and no more", () => {
    expect(isTooDeep(nested(MAX_JSON_DEPTH))).toBe(false);
    expect(isTooDeep(nested(MAX_JSON_DEPTH + 2))).toBe(true);
    expect(isTooDeep(nested(100_000))).toBe(true);
  });
});
