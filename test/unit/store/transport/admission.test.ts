import { describe, expect, it } from "vitest";
import { runAsTenant } from "../../../../src/fairness/tenant.ts";
import { createAdmission, type Admission } from "../../../../src/store/transport/admission.ts";
import type { LimitProfile } from "../../../../src/store/limits.ts";

const options = { maxRunning: 3, maxHeavy: 2, maxWaiting: 2, maxWaitMs: 10_000 };

/** Statements of distinct projects. */
function enter(
  admission: Admission,
  profile: LimitProfile,
  { by, signal }: { by: string; signal?: AbortSignal },
): Promise<() => void> {
  return runAsTenant({ entity: by, key: by }, () => admission.enter(profile, by, signal));
}

describe("admission", () => {
  it("reserves a permit for short statements however many long ones wait", async () => {
    const admission = createAdmission(options);
    const leave = await enter(admission, "heavy", { by: "a" });
    await enter(admission, "maintenance", { by: "b" });
    const order: string[] = [];
    const third = enter(admission, "heavy", { by: "c" }).then(() => order.push("c"));
    await enter(admission, "interactive", { by: "d" }).then(() => order.push("d"));
    leave();
    await third;
    expect(order).toEqual(["d", "c"]);
  });

  it("reserves permits for other projects, also for long statements", async () => {
    const admission = createAdmission({ maxRunning: 12, maxHeavy: 9, maxWaiting: 1000, maxWaitMs: 10_000 });
    let scans = 0;
    const fifty = Array.from({ length: 50 }, () =>
      enter(admission, "heavy", { by: "greedy" }).then((leave) => {
        scans++;
        return leave;
      }),
    );
    await new Promise(setImmediate);
    expect(scans).toBe(4);
    (await enter(admission, "heavy", { by: "other" }))();
    for (const one of fifty) (await one)();
    await admission.idle();
  });

  it("rejects with overloaded if too many wait, or one waits too long", async () => {
    const admission = createAdmission({ ...options, maxRunning: 1, maxWaitMs: 5 });
    await enter(admission, "interactive", { by: "a" });
    const waiting = ["b", "c"].map((by) => enter(admission, "interactive", { by }));
    await expect(enter(admission, "interactive", { by: "d" })).rejects.toMatchObject({ kind: "overloaded" });
    for (const one of waiting) await expect(one).rejects.toMatchObject({ kind: "overloaded" });
  });

  it("dequeues an aborted statement", async () => {
    const admission = createAdmission({ ...options, maxRunning: 1 });
    const leave = await enter(admission, "heavy", { by: "a" });
    const controller = new AbortController();
    const { signal } = controller;
    const gone = enter(admission, "heavy", { by: "b", signal });
    const next = enter(admission, "heavy", { by: "c" });
    await new Promise(setImmediate);
    controller.abort();
    await expect(gone).rejects.toMatchObject({ kind: "aborted" });
    await expect(enter(admission, "heavy", { by: "d", signal })).rejects.toMatchObject({ kind: "aborted" });
    leave();
    (await next)();
    await admission.idle();
  });
});
