import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { unevenlyCut } from "../../../src/ledger/plan-summing.ts";
import { QUARTER_US } from "../../../src/ledger/sum-entries.ts";
import { seededRandom } from "../../helpers/seeded-random.ts";

const { seed } = seededRandom();
/** Within a few hours; often at, just before or just after a quarter. */
const instant = fc
  .record({ quarter: fc.nat(12), beside: fc.oneof(fc.integer({ min: -1, max: 1 }), fc.nat(QUARTER_US)) })
  .map(({ quarter, beside }) => quarter * QUARTER_US + beside);

/** The last cut that is not after an instant; before all of them, none. */
function sliceOf(atUs: number, cutsUs: readonly number[]): number | undefined {
  return cutsUs.findLast((cut) => cut <= atUs);
}

describe("calls that are added up by quarters of an hour", () => {
  it("lie between the same cuts as their quarters, unless one cuts a quarter of theirs", () => {
    const seen = { even: 0, uneven: 0 };
    fc.assert(
      fc.property(fc.array(instant, { minLength: 1 }), fc.array(instant), (ats, cuts) => {
        const [first_at, last_at] = [Math.min(...ats), Math.max(...ats)];
        const cutsUs = [...new Set(cuts)]
          .filter((cut) => cut > first_at && cut <= last_at)
          .sort((a, b) => a - b);
        const isUneven = unevenlyCut(cutsUs)({ first_at, last_at });
        seen[isUneven ? "uneven" : "even"]++;
        if (isUneven) return;
        for (const at of ats)
          expect(sliceOf(Math.floor(at / QUARTER_US) * QUARTER_US, cutsUs)).toBe(sliceOf(at, cutsUs));
      }),
      { seed, numRuns: 2000 },
    );
    expect(seen.even).toBeGreaterThan(100);
    expect(seen.uneven).toBeGreaterThan(100);
  });

  it("are not those of an hour in which a window begins between two quarters", () => {
    const isUneven = unevenlyCut([QUARTER_US * 4 + 7]);
    expect(isUneven({ first_at: QUARTER_US * 4, last_at: QUARTER_US * 5 })).toBe(true);
    // all of them come after it, but their quarter began before
    expect(isUneven({ first_at: QUARTER_US * 4 + 9, last_at: QUARTER_US * 5 })).toBe(true);
    expect(isUneven({ first_at: QUARTER_US * 5, last_at: QUARTER_US * 6 })).toBe(false);
    expect(isUneven({ first_at: 0, last_at: QUARTER_US * 4 + 6 })).toBe(false);
  });
});
