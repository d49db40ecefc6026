import fc from "fast-check";
import { expect, test } from "vitest";
import { SeenIds } from "../../../../../src/rollup/answer/bytes/seen-ids.ts";

test("an id is new once, among thousands of them", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 12 }), { maxLength: 3000 }), (ids) => {
      const seen = new SeenIds();
      const known = new Set<string>();
      for (const id of ids) {
        const bytes = Buffer.from(id);
        const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        expect(seen.add(view, { start: 0, end: bytes.length })).toBe(!known.has(id));
        known.add(id);
      }
    }),
    { numRuns: 50 },
  );
});
