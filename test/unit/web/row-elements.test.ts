import fc from "fast-check";
import { expect, it } from "vitest";
import { elementsFor } from "../../../web/parts/row-elements.ts";
import { runs } from "../../helpers/runs.ts";
import { chosenSeed } from "../../helpers/seeded-random.ts";

const seed = chosenSeed();
const numRuns = runs(300, 5000);

/** From which row on, and how many. */
const sights = fc.array(fc.record({ first: fc.nat(60), count: fc.nat(12) }), { maxLength: 12 });

it("a row that stays in sight keeps its element, each has one of its own, and none is made while one is free", () => {
  fc.assert(
    fc.property(sights, (sights) => {
      let before: ReadonlyMap<number, number> = new Map();
      for (const { first, count } of sights) {
        const indexes = Array.from({ length: count }, (_, at) => first + at);
        const now = elementsFor(indexes, before);
        expect([...now.keys()]).toEqual(indexes);
        expect(new Set(now.values()).size).toBe(count);
        for (const [index, element] of before) if (now.has(index)) expect(now.get(index)).toBe(element);
        const made = [...now.values()].filter((element) => ![...before.values()].includes(element));
        expect(made.length).toBe(Math.max(0, count - before.size));
        before = now;
      }
    }),
    { seed, numRuns },
  );
});

it("rows that have nothing to do with those before take their elements in the order of the document", () => {
  const before = elementsFor([20, 21, 22], elementsFor([0, 1, 2], new Map()));
  expect([...before.values()]).toEqual([0, 1, 2]);
  expect([...elementsFor([21, 22, 23], before).values()]).toEqual([1, 2, 0]);
  expect([...elementsFor([1, 2, 3], elementsFor([21, 22, 23], before)).values()]).toEqual([1, 2, 0]);
});
