import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FairQueue, type Queued } from "../../../src/fairness/fair-queue.ts";
import { levelsOf, type Tenant } from "../../../src/fairness/tenant.ts";
import { runs } from "../../helpers/runs.ts";

const one = fc.record({
  tenant: fc.record({
    project: fc.constantFrom("acme/p", "acme/q", "acme/*", "other/p", "*"),
    key: fc.constantFrom("a", "b"),
  }),
  cost: fc.integer({ min: 1, max: 9 }),
});
const steps = fc.array(
  fc.oneof({ weight: 2, arbitrary: one }, fc.constant("take" as const), fc.constant("leave" as const)),
  { maxLength: 200 },
);
const MAX_COST = 9;

type One = Queued<number>;

describe("FairQueue", () => {
  it("serves waiting entities, projects of an entity, and keys of a project equally, and requests of a key in order", () => {
    fc.assert(
      fc.property(steps, (all) => {
        const queue = new FairQueue<number>();
        let waiting: One[] = [];
        /** Service received since both of a pair wait. */
        const gained = new Map<string, number>();
        const waits = (name: string): boolean => waiting.some(({ tenant }) => namesOf(tenant).includes(name));
        const siblings = (): (readonly [string, string])[] => {
          const names = [...new Set(waiting.flatMap(({ tenant }) => namesOf(tenant)))];
          return names.flatMap((a) =>
            names.filter((b) => a < b && aboveOf(a) === aboveOf(b)).map((b) => [a, b] as const),
          );
        };
        let number = 0;
        const take = (): void => {
          const both = siblings();
          const taken = queue.take(() => true);
          if (taken === undefined) return expect(waiting).toEqual([]);
          const { project, key } = taken.tenant;
          const ofKey = waiting.filter(({ tenant }) => tenant.project === project && tenant.key === key);
          expect(taken).toBe(ofKey[0]);
          const isServed = (name: string): boolean => namesOf(taken.tenant).includes(name);
          for (const pair of both) {
            const before = gained.get(pair.join()) ?? 0;
            const after =
              before + (isServed(pair[0]) ? taken.cost : 0) - (isServed(pair[1]) ? taken.cost : 0);
            gained.set(pair.join(), after);
            expect(Math.abs(after)).toBeLessThanOrEqual(2 * MAX_COST);
          }
          waiting = waiting.filter((other) => other !== taken);
          forget();
        };
        const forget = (): void => {
          for (const pair of gained.keys()) {
            const [a, b] = pair.split(",");
            if (!waits(a!) || !waits(b!)) gained.delete(pair);
          }
        };
        for (const step of all) {
          if (step === "take") take();
          else if (step === "leave") {
            const left = waiting[Math.floor(waiting.length / 2)];
            if (left === undefined) continue;
            queue.remove(left);
            queue.remove(left);
            waiting = waiting.filter((other) => other !== left);
            forget();
          } else {
            const queued = { ...step, value: number++ };
            queue.push(queued);
            waiting.push(queued);
          }
          expect(queue.size).toBe(waiting.length);
        }
        while (waiting.length > 0) take();
        expect(queue.take(() => true)).toBeUndefined();
      }),
      { numRuns: runs(300, 10_000) },
    );
  });

  it("skips requests that are not allowed yet, and returns a request to the front of its key", () => {
    const queue = new FairQueue<string>();
    const push = (project: string, value: string): void =>
      queue.push({ tenant: { project, key: "k" }, cost: 1, value });
    push("p", "p1");
    push("p", "p2");
    push("q", "q1");
    const first = queue.take(({ value }) => value !== "q1")!;
    expect(first.value).toBe("p1");
    queue.requeue(first);
    const served: string[] = [];
    for (let next = queue.take(() => true); next !== undefined; next = queue.take(() => true))
      served.push(next.value);
    expect(served).toEqual(["q1", "p1", "p2"]);
  });
});

/** The entity, project and key of a tenant, each with those above it. */
function namesOf(tenant: Tenant): string[] {
  const levels = levelsOf(tenant);
  return levels.map((_, at) => levels.slice(0, at + 1).join(" "));
}

function aboveOf(name: string): string {
  return name.split(" ").slice(0, -1).join(" ");
}
