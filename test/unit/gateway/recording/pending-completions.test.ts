import { describe, expect, it } from "vitest";
import { PendingCompletions, type Pending } from "../../../../src/gateway/recording/pending-completions.ts";
import type { EndedCompletion } from "../../../../src/gateway/recording/recorded-completion.ts";
import type { Project } from "../../../../src/shared/project.ts";

const limits = { maxPendingCalls: 90, maxPendingBytes: 9000 };
let made = 0;
function one(project: string, key = "k", bytes = 1): Pending {
  const completion = { callId: `c${made++}`, apiKey: key } as EndedCompletion;
  return { project: project as Project, completion, bytes, queuedAtMs: 0, orphaned: undefined };
}
const fill = (pending: PendingCompletions, make: () => Pending): number => {
  let count = 0;
  while (pending.tryAdd(make())) count++;
  return count;
};
const projectsOf = (some: readonly Pending[]): string[] => some.map(({ project }) => project);

describe("pending completions", () => {
  it("use the limits completely for a single key, and release them once written", () => {
    const pending = new PendingCompletions(limits);
    expect(fill(pending, () => one("acme/a"))).toBe(90);
    expect(pending.size).toBe(90);
    pending.putBack(pending.take(200), []);
    expect(pending.size).toBe(0);
    expect(fill(pending, () => one("acme/a", "k", 1000))).toBe(9);
  });

  it("reserve places for other keys and projects, without delay", () => {
    const pending = new PendingCompletions(limits);
    fill(pending, () => one("acme/a"));
    expect(fill(pending, () => one("acme/a", "other"))).toBeGreaterThan(10);
    expect(fill(pending, () => one("acme/b"))).toBeGreaterThan(10);
    const first = projectsOf(pending.take(20));
    expect(first.filter((project) => project === "acme/b")).toHaveLength(10);
  });
});
