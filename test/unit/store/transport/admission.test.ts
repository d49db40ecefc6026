import { describe, expect, it } from "vitest";
import { createAdmission } from "../../../../src/store/transport/admission.ts";

const options = { maxRunning: 3, maxHeavy: 2, maxWaiting: 2, maxWaitMs: 10_000 };

describe("admission", () => {
  it("runs as many as allowed, then the next in line when a place is given back", async () => {
    const admission = createAdmission(options);
    const leave = await admission.enter("interactive", "a");
    await admission.enter("interactive", "b");
    await admission.enter("ingest", "c");
    let entered = false;
    const next = admission.enter("interactive", "d").then((done) => {
      entered = true;
      return done;
    });
    await Promise.resolve();
    expect(entered).toBe(false);
    leave();
    (await next)();
    expect(entered).toBe(true);
  });

  it("keeps a place for short statements however many long ones wait", async () => {
    const admission = createAdmission(options);
    const leave = await admission.enter("heavy", "a");
    await admission.enter("maintenance", "b");
    const order: string[] = [];
    const third = admission.enter("heavy", "c").then(() => order.push("c"));
    await admission.enter("interactive", "d").then(() => order.push("d"));
    leave();
    await third;
    expect(order).toEqual(["d", "c"]);
  });

  it("refuses as overloaded when too many wait, or one waits too long", async () => {
    const admission = createAdmission({ ...options, maxRunning: 1, maxWaitMs: 5 });
    await admission.enter("interactive", "a");
    const waiting = [admission.enter("interactive", "b"), admission.enter("interactive", "c")];
    await expect(admission.enter("interactive", "d")).rejects.toMatchObject({ kind: "overloaded" });
    for (const one of waiting) await expect(one).rejects.toMatchObject({ kind: "overloaded" });
  });

  it("an aborted one leaves the line", async () => {
    const admission = createAdmission({ ...options, maxRunning: 1 });
    const leave = await admission.enter("interactive", "a");
    const controller = new AbortController();
    const gone = admission.enter("interactive", "b", controller.signal);
    const next = admission.enter("interactive", "c");
    controller.abort();
    await expect(gone).rejects.toMatchObject({ kind: "aborted" });
    leave();
    (await next)();
    await admission.idle();
  });

  it("a place given back goes to the first in line that may have it", async () => {
    const admission = createAdmission({ ...options, maxRunning: 2, maxHeavy: 1 });
    const leaveHeavy = await admission.enter("heavy", "a");
    const leaveLight = await admission.enter("interactive", "b");
    const order: string[] = [];
    const heavy = admission.enter("heavy", "c").then(() => order.push("heavy"));
    const light = admission.enter("interactive", "d").then(() => order.push("light"));
    leaveLight();
    await light;
    leaveHeavy();
    await heavy;
    expect(order).toEqual(["light", "heavy"]);
  });
});
