import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { unflatten } from "../../../../src/ingest/otlp/unflatten.ts";

describe("unflatten", () => {
  it.each([
    ["dots", { "a.b.c": 1, "a.b.d": 2, e: 3 }, { a: { b: { c: 1, d: 2 } }, e: 3 }],
    ["lists", { "m.0.role": "user", "m.1.role": "tool" }, { m: [{ role: "user" }, { role: "tool" }] }],
    [
      "lists of ten and more",
      Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`m.${i}`, i])),
      { m: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10] },
    ],
    ["numbers that are no list", { "m.1": 1, "m.3": 3 }, { m: { 1: 1, 3: 3 } }],
    ["a value that begins other keys", { "a.b.c": 1, a: 0, "a.b": 2 }, { a: 0, "a.b": 2, "a.b.c": 1 }],
    ["a value that is an object", { a: { x: 1 }, "a.x": 2 }, { a: { x: 1 }, "a.x": 2 }],
    ["odd dots", { ".a": 1, "b.": 2, "c..d": 3 }, { "": { a: 1 }, b: { "": 2 }, c: { "": { d: 3 } } }],
    [
      "names of the language",
      { "__proto__.x": 1, "constructor.name": "c" },
      JSON.parse('{"__proto__":{"x":1},"constructor":{"name":"c"}}'),
    ],
  ])("nests %s", (_, flat, nested) => {
    expect(JSON.stringify(unflatten(Object.entries(flat)))).toBe(JSON.stringify(sorted(nested)));
  });

  it("does not split the rest of a very long key", () => {
    const text = JSON.stringify(unflatten([["a.".repeat(100_000), 1]]));
    expect(text.startsWith('{"a":'.repeat(31))).toBe(true);
    expect(text.startsWith('{"a":'.repeat(32))).toBe(false);
  });

  it("keeps every value, for any keys in any order", () => {
    const key = fc
      .array(fc.constantFrom("a", "b", "0", "1", "", "__proto__"), { minLength: 1, maxLength: 5 })
      .map((parts) => parts.join("."));
    fc.assert(
      fc.property(fc.uniqueArray(key, { maxLength: 12 }), (keys) => {
        const flat = keys.map((one, index) => [one, `v${index}`] as const);
        const text = JSON.stringify(unflatten(flat));
        for (const [, value] of flat) expect(text.split(`"${value}"`)).toHaveLength(2);
        expect(JSON.stringify(unflatten(flat.toReversed()))).toBe(text);
      }),
    );
  });
});

function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, below]) => [key, sorted(below)]),
  );
}
