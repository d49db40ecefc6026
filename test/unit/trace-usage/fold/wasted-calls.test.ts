import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { wastedCalls } from "../../../../src/trace-usage/fold/wasted-calls.ts";
import { NONE } from "../../../../src/trace-usage/table/call-table.ts";

/** Tries every ancestor. */
function isBelowFailed(call: number, parents: readonly number[], failed: readonly boolean[]): boolean {
  const seen = new Set<number>();
  for (let at = call; at !== NONE && !seen.has(at); at = parents[at]!) {
    if (failed[at]) return true;
    seen.add(at);
  }
  return false;
}

describe("wastedCalls", () => {
  it("marks failed calls and all below them, also in cycles", () => {
    const call = fc.record({ parent: fc.integer({ min: NONE, max: 11 }), failed: fc.boolean() });
    fc.assert(
      fc.property(fc.array(call, { minLength: 12, maxLength: 12 }), (calls) => {
        const parents = calls.map(({ parent }) => parent);
        const failed = calls.map((one) => one.failed && one.parent % 3 !== 0);
        const found = wastedCalls(
          { count: calls.length, parents: Int32Array.from(parents) },
          (at) => failed[at]!,
        );
        expect([...found]).toEqual(calls.map((_, at) => Number(isBelowFailed(at, parents, failed))));
      }),
      { numRuns: 500 },
    );
  });

  it("takes a chain of a million calls", () => {
    const count = 1_000_000;
    const parents = Int32Array.from({ length: count }, (_, call) => (call === count - 1 ? NONE : call + 1));
    const found = wastedCalls({ count, parents }, (call) => call === count - 2);
    expect([found[0], found[count - 2], found[count - 1]]).toEqual([1, 1, 0]);
  });
});
