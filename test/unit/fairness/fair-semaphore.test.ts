import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FairSemaphore, PermitDenied, type Permit } from "../../../src/fairness/fair-semaphore.ts";
import type { Tenant } from "../../../src/fairness/tenant.ts";
import { chosenSeed } from "../../helpers/seeded-random.ts";

const CAPACITY = 60;
const tenant = fc.record({ entity: fc.constantFrom("p", "q", "r"), key: fc.constantFrom("a", "b") });
const step = fc.oneof(
  fc.record({
    does: fc.constantFrom("try" as const, "wait" as const),
    tenant,
    amount: fc.integer({ min: 1, max: 30 }),
  }),
  fc.record({ does: fc.constantFrom("release" as const, "more" as const), at: fc.nat(20) }),
);
interface Held {
  readonly tenant: Tenant;
  readonly permit: Permit;
  amount: number;
}

describe("FairSemaphore", () => {
  it("never exceeds its capacity, counts what is held, and serves all who wait", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const share = new FairSemaphore({ capacity: CAPACITY, maxWaiting: 100 });
        const held: Held[] = [];
        const waits: Promise<unknown>[] = [];
        const heldBy = (is: (one: Tenant) => boolean): number =>
          held.reduce((sum, one) => sum + (is(one.tenant) ? one.amount : 0), 0);
        for (const one of steps) {
          if ("at" in one) {
            const at = one.at % Math.max(1, held.length);
            if (one.does === "more" && held[at]?.permit.more(3) === true) held[at].amount += 3;
            if (one.does === "release") held.splice(at, 1)[0]?.permit.release();
          } else if (one.does === "try") {
            const { entity, key } = one.tenant;
            const [all, ofEntity] = [heldBy(() => true), heldBy((other) => other.entity === entity)];
            const ofKey = heldBy((other) => other.entity === entity && other.key === key);
            const free = CAPACITY - (all - ofEntity);
            const may =
              all + one.amount <= CAPACITY &&
              (ofEntity === 0 || ofEntity + one.amount <= (5 / 6) * free) &&
              (ofKey === 0 || ofKey + one.amount <= free / 2);
            const permit = share.tryAcquire(one.tenant, one.amount);
            expect(permit !== undefined).toBe(may);
            if (permit !== undefined) held.push({ tenant: one.tenant, amount: one.amount, permit });
          } else {
            const { amount } = one;
            const waiting = share.acquire(one.tenant, { amount, maxWaitMs: 60_000 });
            waits.push(
              waiting
                .then((permit) => held.push({ tenant: one.tenant, amount, permit }))
                .catch(() => undefined),
            );
          }
          await new Promise(setImmediate);
          expect(share.counts().held).toBe(heldBy(() => true));
          expect(share.counts().held).toBeLessThanOrEqual(CAPACITY);
        }
        while (share.counts().held > 0) {
          held.pop()!.permit.release();
          await new Promise(setImmediate);
        }
        await Promise.all(waits);
        expect(share.counts()).toMatchObject({ held: 0, waiting: 0 });
      }),
      { seed: chosenSeed(), numRuns: 100 },
    );
  });

  it("leaves a key half, an entity five sixths, and something for each that comes later", () => {
    const share = new FairSemaphore({ capacity: 216 });
    const takeAll = (entity: string, key: string): number => {
      let got = 0;
      while (share.tryAcquire({ entity, key }) !== undefined) got++;
      return got;
    };
    expect(["a", "b", "c"].map((key) => takeAll("acme", key))).toEqual([108, 72, 0]);
    expect(takeAll("other", "a")).toBe(18);
    expect(takeAll("third", "a")).toBeGreaterThan(0);
  });

  it("refuses those who waited too long, and those beyond their share of places", async () => {
    const share = new FairSemaphore({ capacity: 1, maxWaiting: 12 });
    const first = share.tryAcquire({ entity: "p", key: "a" })!;
    await expect(share.acquire({ entity: "p", key: "a" }, { maxWaitMs: 1 })).rejects.toThrow(PermitDenied);
    const waiting = Array.from({ length: 12 }, (_, n) =>
      share.acquire({ entity: "p", key: `k${n}` }, { maxWaitMs: 60_000 }).then((permit) => permit.release()),
    );
    const other = share.acquire({ entity: "q", key: "b" }, { maxWaitMs: 60_000 });
    first.release();
    (await other).release();
    expect((await Promise.allSettled(waiting)).filter(({ status }) => status === "fulfilled")).toHaveLength(
      10,
    );
    await share.idle();
  });
});
