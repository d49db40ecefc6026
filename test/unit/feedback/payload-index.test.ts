import { describe, expect, it } from "vitest";
import { indexPayload, MAX_VALUES } from "../../../src/feedback/payload-index.ts";
import { parseJson } from "../../../src/shared/json.ts";

function index(text: string) {
  return indexPayload(parseJson(text) as Record<string, unknown>);
}

describe("indexPayload", () => {
  it("indexes every scalar by its path, array positions included", () => {
    expect(index('{"a":1,"b":{"c d":true,"é":"x"},"l":[{"v":2.5},null,[false]]}')).toEqual({
      numbers: { a: 1, "l.0.v": 2.5 },
      booleans: { "b.c d": 1, "l.2.0": 0 },
      texts: ["b.é"],
    });
  });

  it("indexes 64-bit integers as numbers; skips nulls and numbers that are not finite", () => {
    expect(
      index('{"big":9223372036854775807,"huge":1e400,"bad":NaN,"none":null,"empty":{},"list":[]}'),
    ).toEqual({
      numbers: { big: 2 ** 63 },
      booleans: {},
      texts: [],
    });
  });

  it("skips values that no path can reach: empty keys, keys with a dot, too deep, too long", () => {
    const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
    expect(index('{"":1,"a.b":{"c":2},"x":{"":3}}')?.numbers).toEqual({});
    expect(Object.keys(index(deep(32))!.numbers)).toEqual([Array(32).fill("a").join(".")]);
    expect(index(deep(33))?.numbers).toEqual({});
    expect(Object.keys(index(`{"${"k".repeat(1024)}":1,"${"k".repeat(1025)}":2}`)!.numbers)).toHaveLength(1);
  });

  it("indexes keys such as __proto__", () => {
    const { numbers } = index('{"constructor":1,"toString":{"__proto__":2}}')!;
    expect(Object.entries(numbers)).toEqual([
      ["constructor", 1],
      ["toString.__proto__", 2],
    ]);
  });

  it("rejects payloads with too many values, or too long paths in total", () => {
    const list = (length: number) => indexPayload({ v: Array(length).fill(1) });
    expect(Object.keys(list(MAX_VALUES)!.numbers)).toHaveLength(MAX_VALUES);
    expect(list(MAX_VALUES + 1)).toBeUndefined();
    expect(indexPayload({ ["k".repeat(1000)]: Array(2000).fill(true) })).toBeUndefined();
  });
});
