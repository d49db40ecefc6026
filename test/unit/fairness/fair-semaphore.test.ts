import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_FREE_FRACTION } from "../../../src/fairness/allocations.ts";
import { FairSemaphore, PermitDenied, type Permit } from "../../../src/fairness/fair-semaphore.ts";
import { levelsOf, type Tenant } from "../../../src/fairness/tenant.ts";
import { runs } from "../../helpers/runs.ts";

const CAPACITY = 32;
const MAX_WAITING = 12;
const tenant = fc.record({
  project: fc.constantFrom("acme/rag", "acme/chat", "other/one"),
  key: fc.constantFrom("a", "b", "c"),
});
const amount = fc.oneof({ weight: 6, arbitrary: fc.constant(1) }, fc.integer({ min: 0, max: 12 }));
const step = fc.oneof(
  fc.record({ does: fc.constant("take" as const), tenant, amount }),
  fc.record({ does: fc.constant("try" as const), tenant, amount }),
  fc.record({ does: fc.constant("more" as const), at: fc.nat(40), amount }),
  fc.record({ does: fc.constant("release" as const), at: fc.nat(40) }),
  fc.record({ does: fc.constant("leave" as const), at: fc.nat(40) }),
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

/** One that took something, or waits for it. */
interface Taking {
  readonly tenant: Tenant;
  amount: number;
  state: "waits" | "has" | "gone";
  held?: Permit;
  readonly left: AbortController;
}

/** The shares as a list of who has what, with the rule computed from the list. */
class Rollup {
  readonly all: Taking[] = [];

  amountOf(isCounted: (one: Taking) => boolean): number {
    return this.all
      .filter((one) => one.state === "has" && isCounted(one))
      .reduce((sum, one) => sum + one.amount, 0);
  }

  fits(more: number): boolean {
    return this.amountOf(() => true) + more <= CAPACITY;
  }

  isFair(tenant: Tenant, more: number): boolean {
    const levels = levelsOf(tenant);
    /** Whether one is of the entity of the tenant, or of its project, or of its key. */
    const isWithin = (one: Taking, depth: number): boolean =>
      levelsOf(one.tenant).every((name, at) => at >= depth || name === levels[at]);
    let left = CAPACITY;
    for (const depth of [1, 2, 3]) {
      const own = this.amountOf((one) => isWithin(one, depth));
      if (own === 0) return true;
      const siblings = this.amountOf((one) => isWithin(one, depth - 1) && !isWithin(one, depth));
      left = MAX_FREE_FRACTION * (left - siblings);
      if (own + more > left) return false;
    }
    return true;
  }

  may(who: Tenant, more: number): boolean {
    return this.fits(more) && this.isFair(who, more);
  }

  /** The first of each key that waits. */
  heads(): readonly Taking[] {
    const waiting = this.all.filter(({ state }) => state === "waits");
    return [...Map.groupBy(waiting, (one) => `${one.tenant.project} ${one.tenant.key}`).values()].map(
      ([first]) => first!,
    );
  }
}

const materialized = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function pick<One>(all: readonly One[], at: number): One | undefined {
  return all[at % Math.max(all.length, 1)];
}

async function does(share: FairSemaphore, model: Rollup, one: Step): Promise<void> {
  const having = model.all.filter(({ state }) => state === "has");
  if (one.does === "take") {
    const left = new AbortController();
    const taking: Taking = { tenant: one.tenant, amount: one.amount, state: "waits", left };
    const nobodyWaits = model.heads().length === 0;
    const may = model.may(one.tenant, one.amount);
    model.all.push(taking);
    share.acquire(one.tenant, { amount: one.amount, maxWaitMs: 60_000, signal: left.signal }).then(
      (held) => Object.assign(taking, { held, state: "has" }),
      (error: unknown) => {
        taking.state = "gone";
        if (!left.signal.aborted) expect(error).toBeInstanceOf(PermitDenied);
      },
    );
    await materialized();
    if (nobodyWaits && may) expect(taking.state).toBe("has");
  } else if (one.does === "try") {
    const may = model.may(one.tenant, one.amount);
    const held = share.tryAcquire(one.tenant, one.amount);
    expect(held !== undefined).toBe(may);
    if (held !== undefined) {
      model.all.push({ ...one, state: "has", held, left: new AbortController() });
    }
  } else if (one.does === "more") {
    const taking = pick(having, one.at);
    if (taking === undefined) return;
    const may = model.may(taking.tenant, one.amount);
    expect(taking.held!.more(one.amount)).toBe(may);
    if (may) taking.amount += one.amount;
  } else if (one.does === "release") {
    const taking = pick(having, one.at);
    if (taking === undefined) return;
    taking.state = "gone";
    taking.held!.release();
    taking.held!.release();
    await materialized();
  } else {
    const taking = pick(
      model.all.filter(({ state }) => state === "waits"),
      one.at,
    );
    taking?.left.abort(new Error("left"));
    await materialized();
  }
}

function check(share: FairSemaphore, model: Rollup): void {
  const counts = share.counts();
  expect(counts.held).toBe(model.amountOf(() => true));
  expect(counts.held).toBeLessThanOrEqual(CAPACITY);
  const waiting = model.all.filter(({ state }) => state === "waits");
  expect(counts.waiting).toBe(waiting.length);
  expect(waiting.length).toBeLessThanOrEqual(MAX_WAITING);
  // nothing lies idle that one who waits may have, unless it is kept for one who needs more than there is
  const heads = model.heads();
  const isKept = heads.some((one) => model.isFair(one.tenant, one.amount) && !model.fits(one.amount));
  if (!isKept) for (const one of heads) expect(model.may(one.tenant, one.amount)).toBe(false);
}

describe("FairSemaphore", () => {
  it("divides, queues, cancels and releases as a plain list of tenants would", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 120 }), async (steps) => {
        const share = new FairSemaphore({ capacity: CAPACITY, maxWaiting: MAX_WAITING });
        const model = new Rollup();
        for (const one of steps) {
          await does(share, model, one);
          check(share, model);
        }
        for (const { left, state } of model.all) if (state === "waits") left.abort();
        for (const { held } of model.all) held?.release();
        await share.idle();
        await materialized();
        expect(share.counts()).toMatchObject({ held: 0, waiting: 0 });
        const whole = share.tryAcquire({ project: "acme/rag", key: "a" }, CAPACITY);
        expect(whole).toBeDefined();
      }),
      { numRuns: runs(200, 5000) },
    );
  });

  it("reserves capacity for a project that arrives late, for any use by others", () => {
    const late = { project: "late", key: "k" };
    fc.assert(
      fc.property(fc.integer({ min: 8, max: 4000 }), fc.integer({ min: 1, max: 100 }), (capacity, keys) => {
        const share = new FairSemaphore({ capacity });
        let projects = 0;
        // each of the projects before takes all it can get, by many keys
        for (let left = capacity; left > 4; left = capacity - share.counts().held) {
          const project = `greedy ${projects++}`;
          let got = true;
          while (got) {
            got = false;
            for (let key = 0; key < keys; key++) {
              while (share.tryAcquire({ project, key: String(key) }) !== undefined) got = true;
            }
          }
          expect(capacity - share.counts().held).toBeGreaterThanOrEqual(Math.floor(left / 6));
        }
        expect(projects).toBeGreaterThanOrEqual(Math.floor(Math.log(capacity / 6) / Math.log(6)));
        if (share.counts().held < capacity) expect(share.tryAcquire(late)).toBeDefined();
      }),
    );
  });

  it("grants a single key more than half of the capacity, and an entity five sixths, for any number of its projects", () => {
    const share = new FairSemaphore({ capacity: 216 });
    const takeAll = (tenant: Tenant): number => {
      let count = 0;
      while (share.tryAcquire(tenant) !== undefined) count++;
      return count;
    };
    expect(takeAll({ project: "acme/rag", key: "a" })).toBe(125);
    expect(takeAll({ project: "acme/rag", key: "b" })).toBe(20);
    for (let at = 0; at < 1000; at++) takeAll({ project: `acme/p${at}`, key: "k" });
    expect(share.counts().held).toBeLessThanOrEqual(180);
    expect(takeAll({ project: "other/one", key: "c" })).toBe(20);
  });

  it("rejects requests that wait too long, and serves the others", async () => {
    const share = new FairSemaphore({ capacity: 1, maxWaiting: 10 });
    const first = share.tryAcquire({ project: "p", key: "a" })!;
    const late = share.acquire({ project: "p", key: "a" }, { maxWaitMs: 1 });
    const patient = share.acquire({ project: "q", key: "b" }, { maxWaitMs: 60_000 });
    await expect(late).rejects.toMatchObject({ reason: "late" });
    first.release();
    (await patient).release();
    expect(share.counts()).toEqual({ held: 0, waiting: 0, waited: 2, rejected: 1 });
  });

  it("reserves places in its queue for other tenants than the one that fills it", async () => {
    const share = new FairSemaphore({ capacity: 1, maxWaiting: 8 });
    const first = share.tryAcquire({ project: "greedy", key: "a" })!;
    const greedy = Array.from({ length: 50 }, (_, at) =>
      share.acquire({ project: "greedy", key: String(at) }, { maxWaitMs: 60_000 }),
    );
    const outcomes = Promise.allSettled(greedy.map(async (one) => (await one).release()));
    const other = share.acquire({ project: "other", key: "b" }, { maxWaitMs: 60_000 });
    first.release();
    (await other).release();
    const rejected = (await outcomes).filter(({ status }) => status === "rejected").length;
    expect(rejected).toBe(45);
  });
});
