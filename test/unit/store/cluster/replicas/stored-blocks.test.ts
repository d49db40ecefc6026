import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  containsBlocks,
  type StoredBlocks,
} from "../../../../../src/store/cluster/replicas/stored-blocks.ts";
import { runs } from "../../../../helpers/runs.ts";

const RUNS = runs(500, 20_000);

/** Data parts with these blocks of two partitions, some adjacent ones merged. */
const replica = fc
  .array(fc.record({ partition: fc.constantFrom("t/1", "t/2"), block: fc.nat(8), isMerged: fc.boolean() }))
  .map((chosen) => {
    const parts: StoredBlocks[] = [];
    for (const { partition, block, isMerged } of chosen.toSorted((a, b) => a.block - b.block)) {
      const before = parts.findLast((part) => part.partition === partition);
      if (before !== undefined && before.last >= block) continue;
      if (before !== undefined && isMerged && before.last + 1 === block)
        parts[parts.indexOf(before)] = { ...before, last: block };
      else parts.push({ partition, first: block, last: block });
    }
    return parts;
  });

const blocksIn = (parts: readonly StoredBlocks[]): Set<string> =>
  new Set(
    parts.flatMap(({ partition, first, last }) =>
      Array.from({ length: last - first + 1 }, (_, index) => `${partition}:${first + index}`),
    ),
  );

describe("containsBlocks", () => {
  it("is true exactly if every block is there, however either replica merged them", () => {
    fc.assert(
      fc.property(replica, replica, (own, others) => {
        const there = blocksIn(own);
        expect(containsBlocks(own, others)).toBe([...blocksIn(others)].every((block) => there.has(block)));
      }),
      { numRuns: RUNS },
    );
  });

  it("ignores unused numbers between blocks once both replicas have merged them", () => {
    const merged = [{ partition: "t/1", first: 0, last: 4 }];
    const apart = [
      { partition: "t/1", first: 0, last: 1 },
      { partition: "t/1", first: 3, last: 4 },
    ];
    expect(containsBlocks(merged, apart)).toBe(true);
    expect(containsBlocks(apart, merged)).toBe(false);
  });
});
