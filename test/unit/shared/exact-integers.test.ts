import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseExactly } from "../../../src/shared/exact-integers.ts";

const LONG = "1234567890123456789";
const nested = (levels: number, inner: string): string => "[".repeat(levels) + inner + "]".repeat(levels);

describe("parseExactly", () => {
  it("keeps every digit, at any position", () => {
    const integer = fc.bigInt(-(2n ** 63n), 2n ** 64n - 1n).map(String);
    const text = fc.string({ unit: fc.constantFrom('"', "\\", ":", ",", "[", " ", LONG, "x") });
    const scalar = fc.oneof(
      integer,
      text.map((value) => JSON.stringify(value)),
      fc.double().map((value) => JSON.stringify(value)),
    );
    const json = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 5 }, scalar, tie("array"), tie("object")),
      array: fc.array(tie("value")).map((members) => `[${members.join(",")}]`),
      object: fc
        .uniqueArray(fc.tuple(fc.oneof(text, fc.constantFrom("__proto__", "2", "1")), tie("value")), {
          selector: ([key]) => key,
          // members that look like numbers come first in any object
          comparator: (one, other) => one === other || (/^\d$/.test(one) && /^\d$/.test(other)),
        })
        .map((members) => members.toSorted(([a], [b]) => Number(/^\d$/.test(b)) - Number(/^\d$/.test(a))))
        .map(
          (members) =>
            `{${members.map(([key, value]) => `${JSON.stringify(key)}:${value as string}`).join(",")}}`,
        ),
    })).value;
    fc.assert(
      fc.property(json, (source) => {
        expect(JSON.stringify(parseExactly(source as string))).toBe(source);
      }),
    );
  });

  it("distinguishes integers that are the same double, and keeps other numbers", () => {
    expect(JSON.stringify(parseExactly(`[9007199254740993,9007199254740992,9007199254740993.0]`))).toBe(
      "[9007199254740993,9007199254740992,9007199254740992]",
    );
    const others = [1234567890123456.5, 0.125, 1e1, "1234567890123456789", 1234567890123456];
    expect(
      parseExactly(
        `[1234567890123456.5, 0.1250000000000000000, 1e0000000000000001, "${LONG}", 1234567890123456]`,
      ),
    ).toEqual(others);
    expect(JSON.stringify(parseExactly(`[ -${LONG}\n,\t${LONG} ]`))).toBe(`[-${LONG},${LONG}]`);
  });

  it.each([
    `{${LONG}:1}`,
    `[${LONG} ${LONG}]`,
    `["a"${LONG}]`,
    `[0${LONG}]`,
    `[--${LONG}]`,
    `[${LONG}`,
    `${LONG}"`,
  ])("rejects %s", (text) => {
    expect(() => parseExactly(text)).toThrow(SyntaxError);
  });

  it("reads a long integer at any depth", () => {
    expect(() => parseExactly(nested(200_000, LONG))).not.toThrow();
  });

  it.each([
    ["small numbers", `[${"7,".repeat(2_000_000)}${LONG}]`],
    ["texts with quotes", `[${String.raw`"a\"b",`.repeat(500_000)}${LONG}]`],
    ["long integers", `[${`${LONG},`.repeat(200_000)}1]`],
    ["text of digits", `"${" 1234567890123456".repeat(250_000)}"`],
    ["backslashes", String.raw`["${"\\\\".repeat(1_000_000)}\"",${LONG}]`],
  ])("parses 4 MB of %s", (_name, text) => {
    expect(() => parseExactly(text)).not.toThrow();
  });
});
