import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sortSteps } from "../../../src/shared/sort-steps.ts";
import { atOnce } from "../../../src/shared/steps.ts";

const most = fc.integer({ min: 1, max: 9 });

describe("sortSteps", () => {
  it("sorts numbers as a single sort does, for any step size", () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), most, (numbers, atATime) => {
        const values = Float64Array.from(numbers);
        atOnce(sortSteps(values, atATime));
        expect(values).toEqual(Float64Array.from(numbers).sort());
      }),
    );
  });

  it("sorts texts likewise", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary" })), most, (texts, atATime) => {
        const sorted = [...texts];
        atOnce(sortSteps(sorted, atATime));
        expect(sorted).toEqual([...texts].sort());
      }),
    );
  });
});
