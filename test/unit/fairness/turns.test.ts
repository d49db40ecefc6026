import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { runAsTenant } from "../../../src/fairness/tenant.ts";
import { inTurns, turn } from "../../../src/fairness/turns.ts";

const KEEPS_MS = 10;

/** Work of so many steps, each longer than anybody may keep the thread. */
function* work(steps: number, onStep: () => void): Generator<void, string> {
  for (let n = 0; n < steps; n++) {
    const until = performance.now() + KEEPS_MS;
    while (performance.now() < until);
    onStep();
    yield;
  }
  return "done";
}

describe("inTurns", () => {
  it("returns the result of the work, for short work at once", async () => {
    const seen: string[] = [];
    const short = inTurns(work(1, () => seen.push("step")));
    expect(seen).toEqual(["step"]);
    expect(await short).toBe("done");
  });

  it("runs one step per turn of the event loop, for any amount of work", async () => {
    const steps: number[] = [];
    const all = Array.from({ length: 20 }, () => inTurns(work(5, () => steps.push(1))));
    await nextTurn();
    while (steps.length < 100) {
      const before = steps.length;
      await nextTurn();
      expect(steps.length - before).toBeLessThanOrEqual(1);
    }
    expect(new Set(await Promise.all(all))).toEqual(new Set(["done"]));
  });

  it("shares turns between entities, not between works", async () => {
    const order: string[] = [];
    const start = (project: string, key: string): Promise<string> =>
      runAsTenant({ entity: project, key }, () => inTurns(work(4, () => order.push(project))));
    const many = Array.from({ length: 9 }, (_, n) => start("many", `k${n}`));
    await Promise.all([start("one", "k"), ...many]);
    // each has done a step at once; then both have every second one
    expect(order.slice(10, 16).filter((project) => project === "one")).toHaveLength(3);
  });

  it("rejects with the error of the work", async () => {
    const failing = inTurns(
      work(2, () => {
        throw new Error("no");
      }),
    );
    await expect(failing).rejects.toThrow("no");
    await turn();
  });
});
