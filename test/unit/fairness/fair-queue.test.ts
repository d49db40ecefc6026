import fc from "fast-check";
import { expect, it } from "vitest";
import { FairQueue, type Queued } from "../../../src/fairness/fair-queue.ts";
import { chosenSeed } from "../../helpers/seeded-random.ts";

type Item = Queued<number>;
const tenant = fc.record({ entity: fc.constantFrom("p", "q", "r"), key: fc.constantFrom("a", "b") });
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant("push" as const),
      tenant,
      cost: fc.integer({ min: 1, max: 9 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constant("take" as const), blocked: fc.constantFrom("a", "b", "none") }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ does: fc.constant("remove" as const), at: fc.nat(5) }),
  },
);

it("serves each entity in order of arrival, but for keys that may not pass", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const queue = new FairQueue<number>();
      let model: Item[] = [];
      for (const [value, one] of steps.entries()) {
        if (one.does === "push") {
          model.push({ tenant: one.tenant, cost: one.cost, value });
          queue.push(model.at(-1)!);
        } else if (one.does === "take") {
          const allowed = model.filter(({ tenant: { key } }) => key !== one.blocked);
          const taken = queue.take(({ tenant: { key } }) => key !== one.blocked);
          const first = allowed.find(({ tenant: { entity } }) => entity === taken?.tenant.entity);
          expect(taken).toBe(allowed.length === 0 ? undefined : first);
          model = model.filter((item) => item !== taken);
        } else {
          const item = model[one.at % Math.max(1, model.length)];
          if (item === undefined) continue;
          queue.remove(item);
          model = model.filter((other) => other !== item);
        }
        expect(queue.size).toBe(model.length);
      }
    }),
    { seed: chosenSeed(), numRuns: 300 },
  );
});

it("gives entities equal service, however many keys they have and however much they send", () => {
  const queue = new FairQueue<string>();
  for (let n = 0; n < 100; n++)
    queue.push({ tenant: { entity: "many", key: `k${n}` }, cost: 2, value: "many" });
  for (let n = 0; n < 3; n++) queue.take(() => true);
  // one that comes later earns no credit for the time before
  for (let n = 0; n < 40; n++) queue.push({ tenant: { entity: "one", key: "k" }, cost: 1, value: "one" });
  const served = Array.from({ length: 30 }, () => queue.take(() => true)!.value);
  expect(served.filter((value) => value === "one")).toHaveLength(20);
});
