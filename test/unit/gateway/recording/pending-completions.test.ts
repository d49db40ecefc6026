import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PendingCompletions, type Pending } from "../../../../src/gateway/recording/pending-completions.ts";
import type { EndedCompletion } from "../../../../src/gateway/recording/recorded-completion.ts";
import type { Project } from "../../../../src/shared/project.ts";
import { runs } from "../../../helpers/runs.ts";

const limits = { maxPendingCalls: 90, maxPendingBytes: 9000 };
let made = 0;
function one(project: string, key = "k", bytes = 1): Pending {
  const completion = { callId: `c${made++}`, apiKey: key } as EndedCompletion;
  return { project: project as Project, completion, bytes, queuedAtMs: 0, left: undefined };
}
const fill = (pending: PendingCompletions, make: () => Pending): number => {
  let count = 0;
  while (pending.tryAdd(make())) count++;
  return count;
};
const projectsOf = (some: readonly Pending[]): string[] => some.map(({ project }) => project);

describe("completions that wait", () => {
  it("one key that is alone has what the limits say, and gets it again when it is written", () => {
    const pending = new PendingCompletions(limits);
    expect(fill(pending, () => one("acme/a"))).toBe(90);
    expect(pending.size).toBe(90);
    pending.putBack(pending.take(200), []);
    expect(pending.size).toBe(0);
    expect(fill(pending, () => one("acme/a", "k", 1000))).toBe(9);
  });

  it("leave places for other keys and projects, and do not keep them waiting", () => {
    const pending = new PendingCompletions(limits);
    fill(pending, () => one("acme/a"));
    expect(fill(pending, () => one("acme/a", "other"))).toBeGreaterThan(10);
    expect(fill(pending, () => one("acme/b"))).toBeGreaterThan(10);
    const first = projectsOf(pending.take(20));
    expect(first.filter((project) => project === "acme/b")).toHaveLength(10);
  });

  const step = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        does: fc.constant("add" as const),
        project: fc.constantFrom("acme/a", "acme/b", "acme/c"),
        key: fc.constantFrom("k", "l"),
        bytes: fc.constantFrom(0, 1, 400, 8000),
        isRead: fc.boolean(),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        does: fc.constant("write" as const),
        most: fc.integer({ min: 1, max: 30 }),
        fails: fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }),
      }),
    },
  );

  it("are each taken in the order of their key until they are written, and none is lost", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const pending = new PendingCompletions(limits);
        /** By key, those that wait, in their order. */
        const model = new Map<string, Pending[]>();
        const laneOf = ({ project, completion }: Pending): Pending[] => {
          const name = `${project} ${completion.apiKey}`;
          if (!model.has(name)) model.set(name, []);
          return model.get(name)!;
        };
        for (const it of steps) {
          if (it.does === "add") {
            const added = one(it.project, it.key, it.bytes);
            if (it.isRead) pending.add(added);
            if (it.isRead || pending.tryAdd(added)) laneOf(added).push(added);
          } else {
            const taken = pending.take(it.most);
            for (const some of taken) expect(laneOf(some).shift()).toBe(some);
            const waiting = taken.filter((_, index) => it.fails[index % it.fails.length]);
            pending.putBack(taken, waiting);
            for (const some of waiting) laneOf(some).push(some);
          }
          const all = [...model.values()].flat();
          expect(new Set(pending.all())).toEqual(new Set(all));
          expect([pending.size, pending.waiting]).toEqual([all.length, all.length]);
        }
        // what is written gives all of its places back
        while (pending.waiting > 0) pending.putBack(pending.take(7), []);
        expect(fill(pending, () => one("acme/new"))).toBe(90);
      }),
      { numRuns: runs(200, 5000) },
    );
  });
});
