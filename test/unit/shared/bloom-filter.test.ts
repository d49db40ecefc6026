import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BloomFilter } from "../../../src/shared/bloom-filter.ts";
import { seededRandom } from "../../helpers/seeded-random.ts";

describe("a Bloom filter", () => {
  it("has all hashes that were added, and says which of them changed it", () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), fc.integer({ min: 5, max: 14 }), (hashes, bits) => {
        const filter = new BloomFilter(bits);
        for (const hash of hashes) {
          const had = filter.has(hash);
          expect(filter.add(hash)).toBe(!had);
        }
        for (const hash of hashes) expect(filter.has(hash)).toBe(true);
      }),
    );
  });

  it("takes less than one in a hundred others for its own, at sixteen bits for each", () => {
    const random = seededRandom();
    const hash = (): number => Math.floor(random.next() * 2 ** 32);
    const filter = new BloomFilter(20);
    for (let n = 0; n < 2 ** 16; n++) filter.add(hash());
    const others = Array.from({ length: 20_000 }, hash);
    expect(others.filter((hash) => filter.has(hash)).length).toBeLessThan(200);
  });
});
