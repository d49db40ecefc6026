import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GenerationCache } from "../../../../src/calls/storage-key/generation-cache.ts";
import type { Project } from "../../../../src/shared/project.ts";

const project = "acme/fenced" as Project;

describe("the memory of fences", () => {
  it("holds what the latest read brought that has ended, in whatever order reads end", () => {
    const ends = fc
      .integer({ min: 1, max: 8 })
      .chain((count) => fc.shuffledSubarray(Array.from({ length: count }, (_, at) => at)));
    fc.assert(
      fc.property(ends, (order) => {
        const memory = new GenerationCache(10);
        const turns = Array.from({ length: 8 }, () => memory.begin());
        for (const [at, read] of order.entries()) {
          memory.learn(turns[read]!, new Map([[project, `fence ${read}`]]));
          expect(memory.generationOf(project)).toBe(`fence ${Math.max(...order.slice(0, at + 1))}`);
        }
      }),
    );
  });

  it("takes a new fence of a read that begins after the last one", () => {
    const memory = new GenerationCache(10);
    for (const generation of ["first", "second", "third"]) {
      memory.learn(memory.begin(), new Map([[project, generation]]));
      expect(memory.generationOf(project)).toBe(generation);
    }
    memory.learn(memory.begin(), new Map());
    expect(memory.generationOf(project)).toBe("third");
  });
});
