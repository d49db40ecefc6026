import fc from "fast-check";
import { expect, it } from "vitest";
import { JsonSize } from "../../../src/shared/json-size.ts";

/** By what the text becomes. An empty list or object counts as if it had a value, a key with an escape as sixteen. */
function countOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  const members = Object.entries(value);
  const keys = Array.isArray(value) ? [] : members.map(([key]) => key);
  const ofKeys = keys.reduce((sum, key) => sum + (JSON.stringify(key).includes("\\") ? 16 : 1), 0);
  const ofMembers = members.reduce((sum, [, member]) => sum + countOf(member), 0);
  return 1 + ofKeys + Math.max(1, ofMembers);
}

it("counts the values and keys of a text, in any chunks", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.integer({ min: 1, max: 9 }), fc.nat(4), (value, pieceBytes, indent) => {
      const bytes = Buffer.from(JSON.stringify(value, null, indent));
      const size = new JsonSize();
      for (let at = 0; at < bytes.length; at += pieceBytes) size.add(bytes.subarray(at, at + pieceBytes));
      expect(size.count).toBe(countOf(value));
    }),
    { numRuns: 500 },
  );
});
