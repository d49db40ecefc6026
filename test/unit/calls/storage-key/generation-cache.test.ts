import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GenerationCache } from "../../../../src/calls/storage-key/generation-cache.ts";
import type { Project } from "../../../../src/shared/project.ts";

const project = "acme/deleted" as Project;

describe("GenerationCache", () => {
  it("keeps the generation of the completed read that began last, in any order of completion", () => {
    const ends = fc
      .integer({ min: 1, max: 8 })
      .chain((count) => fc.shuffledSubarray(Array.from({ length: count }, (_, at) => at)));
    fc.assert(
      fc.property(ends, (order) => {
        const cache = new GenerationCache(10);
        const turns = Array.from({ length: 8 }, () => cache.begin());
        for (const [at, read] of order.entries()) {
          cache.put(turns[read]!, new Map([[project, `generation ${read}`]]));
          expect(cache.generationOf(project)).toBe(`generation ${Math.max(...order.slice(0, at + 1))}`);
        }
      }),
    );
  });

  it("accepts a generation from a read that begins after the last one", () => {
    const cache = new GenerationCache(10);
    for (const generation of ["first", "second", "third"]) {
      cache.put(cache.begin(), new Map([[project, generation]]));
      expect(cache.generationOf(project)).toBe(generation);
    }
    cache.put(cache.begin(), new Map());
    expect(cache.generationOf(project)).toBe("third");
  });
});
