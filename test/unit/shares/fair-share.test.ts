import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PART } from "../../../src/shares/holdings.ts";
import { FairShare, NoShare, type Held } from "../../../src/shares/fair-share.ts";
import { levelsOf, type Holder } from "../../../src/shares/holder.ts";
import { runs } from "../../helpers/runs.ts";

const CAPACITY = 32;
const MAX_WAITING = 12;
const holder = fc.record({
  project: fc.constantFrom("acme/rag", "acme/chat", "other/one"),
  key: fc.constantFrom("a", "b", "c"),
});
const amount = fc.oneof({ weight: 6, arbitrary: fc.constant(1) }, fc.integer({ min: 0, max: 12 }));
const step = fc.oneof(
  fc.record({ does: fc.constant("take" as const), holder, amount }),
  fc.record({ does: fc.constant("try" as const), holder, amount }),
  fc.record({ does: fc.constant("more" as const), at: fc.nat(40), amount }),
  fc.record({ does: fc.constant("release" as const), at: fc.nat(40) }),
  fc.record({ does: fc.constant("leave" as const), at: fc.nat(40) }),
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

/** One that took something, or waits for it. */
interface Taking {
  readonly holder: Holder;
  amount: number;
  state: "waits" | "has" | "gone";
  held?: Held;
  readonly left: AbortController;
}

/** The shares as a list of who has what, with the rule computed from the list. */
class Ledger {
  readonly all: Taking[] = [];

  amountOf(isCounted: (one: Taking) => boolean): number {
    return this.all
      .filter((one) => one.state === "has" && isCounted(one))
      .reduce((sum, one) => sum + one.amount, 0);
  }

  fits(more: number): boolean {
    return this.amountOf(() => true) + more <= CAPACITY;
  }

  isFair(holder: Holder, more: number): boolean {
    const levels = levelsOf(holder);
    /** Whether one is of the entity of the holder, or of its project, or of its key. */
    const isWithin = (one: Taking, depth: number): boolean =>
      levelsOf(one.holder).every((name, at) => at >= depth || name === levels[at]);
    let left = CAPACITY;
    for (const depth of [1, 2, 3]) {
      const own = this.amountOf((one) => isWithin(one, depth));
      if (own === 0) return true;
      const siblings = this.amountOf((one) => isWithin(one, depth - 1) && !isWithin(one, depth));
      left = PART * (left - siblings);
      if (own + more > left) return false;
    }
    return true;
  }

  may(who: Holder, more: number): boolean {
    return this.fits(more) && this.isFair(who, more);
  }

  /** The first of each key that waits. */
  heads(): readonly Taking[] {
    const waiting = this.all.filter(({ state }) => state === "waits");
    return [...Map.groupBy(waiting, (one) => `${one.holder.project} ${one.holder.key}`).values()].map(
      ([first]) => first!,
    );
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function pick<One>(all: readonly One[], at: number): One | undefined {
  return all[at % Math.max(all.length, 1)];
}

async function does(share: FairShare, ledger: Ledger, one: Step): Promise<void> {
  const having = ledger.all.filter(({ state }) => state === "has");
  if (one.does === "take") {
    const left = new AbortController();
    const taking: Taking = { holder: one.holder, amount: one.amount, state: "waits", left };
    const nobodyWaits = ledger.heads().length === 0;
    const may = ledger.may(one.holder, one.amount);
    ledger.all.push(taking);
    share.take(one.holder, { amount: one.amount, maxWaitMs: 60_000, signal: left.signal }).then(
      (held) => Object.assign(taking, { held, state: "has" }),
      (error: unknown) => {
        taking.state = "gone";
        if (!left.signal.aborted) expect(error).toBeInstanceOf(NoShare);
      },
    );
    await settled();
    if (nobodyWaits && may) expect(taking.state).toBe("has");
  } else if (one.does === "try") {
    const may = ledger.may(one.holder, one.amount);
    const held = share.tryTake(one.holder, one.amount);
    expect(held !== undefined).toBe(may);
    if (held !== undefined) {
      ledger.all.push({ ...one, state: "has", held, left: new AbortController() });
    }
  } else if (one.does === "more") {
    const taking = pick(having, one.at);
    if (taking === undefined) return;
    const may = ledger.may(taking.holder, one.amount);
    expect(taking.held!.more(one.amount)).toBe(may);
    if (may) taking.amount += one.amount;
  } else if (one.does === "release") {
    const taking = pick(having, one.at);
    if (taking === undefined) return;
    taking.state = "gone";
    taking.held!.release();
    taking.held!.release();
    await settled();
  } else {
    const taking = pick(
      ledger.all.filter(({ state }) => state === "waits"),
      one.at,
    );
    taking?.left.abort(new Error("left"));
    await settled();
  }
}

function check(share: FairShare, ledger: Ledger): void {
  const counts = share.counts();
  expect(counts.held).toBe(ledger.amountOf(() => true));
  expect(counts.held).toBeLessThanOrEqual(CAPACITY);
  const waiting = ledger.all.filter(({ state }) => state === "waits");
  expect(counts.waiting).toBe(waiting.length);
  expect(waiting.length).toBeLessThanOrEqual(MAX_WAITING);
  // nothing lies idle that one who waits may have, unless it is kept for one who needs more than there is
  const heads = ledger.heads();
  const isKept = heads.some((one) => ledger.isFair(one.holder, one.amount) && !ledger.fits(one.amount));
  if (!isKept) for (const one of heads) expect(ledger.may(one.holder, one.amount)).toBe(false);
}

describe("FairShare", () => {
  it("divides, queues, cancels and gives back as a plain list of holders would", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 120 }), async (steps) => {
        const share = new FairShare({ capacity: CAPACITY, maxWaiting: MAX_WAITING });
        const ledger = new Ledger();
        for (const one of steps) {
          await does(share, ledger, one);
          check(share, ledger);
        }
        for (const { left, state } of ledger.all) if (state === "waits") left.abort();
        for (const { held } of ledger.all) held?.release();
        await share.idle();
        await settled();
        expect(share.counts()).toMatchObject({ held: 0, waiting: 0 });
        const whole = share.tryTake({ project: "acme/rag", key: "a" }, CAPACITY);
        expect(whole).toBeDefined();
      }),
      { numRuns: runs(200, 5000) },
    );
  });

  it("has some for a project that comes late, whatever the others hold", () => {
    const late = { project: "late", key: "k" };
    fc.assert(
      fc.property(fc.integer({ min: 8, max: 4000 }), fc.integer({ min: 1, max: 100 }), (capacity, keys) => {
        const share = new FairShare({ capacity });
        let projects = 0;
        // each of the projects before takes all it can get, by many keys
        for (let left = capacity; left > 4; left = capacity - share.counts().held) {
          const project = `greedy ${projects++}`;
          let got = true;
          while (got) {
            got = false;
            for (let key = 0; key < keys; key++) {
              while (share.tryTake({ project, key: String(key) }) !== undefined) got = true;
            }
          }
          expect(capacity - share.counts().held).toBeGreaterThanOrEqual(Math.floor(left / 6));
        }
        expect(projects).toBeGreaterThanOrEqual(Math.floor(Math.log(capacity / 6) / Math.log(6)));
        if (share.counts().held < capacity) expect(share.tryTake(late)).toBeDefined();
      }),
    );
  });

  it("gives a key that is alone more than half of everything, and an entity five sixths, however many projects it makes", () => {
    const share = new FairShare({ capacity: 216 });
    const takeAll = (holder: Holder): number => {
      let count = 0;
      while (share.tryTake(holder) !== undefined) count++;
      return count;
    };
    expect(takeAll({ project: "acme/rag", key: "a" })).toBe(125);
    expect(takeAll({ project: "acme/rag", key: "b" })).toBe(20);
    for (let at = 0; at < 1000; at++) takeAll({ project: `acme/p${at}`, key: "k" });
    expect(share.counts().held).toBeLessThanOrEqual(180);
    expect(takeAll({ project: "other/one", key: "c" })).toBe(20);
  });

  it("refuses those that wait too long, and goes on with the others", async () => {
    const share = new FairShare({ capacity: 1, maxWaiting: 10 });
    const first = share.tryTake({ project: "p", key: "a" })!;
    const late = share.take({ project: "p", key: "a" }, { maxWaitMs: 1 });
    const patient = share.take({ project: "q", key: "b" }, { maxWaitMs: 60_000 });
    await expect(late).rejects.toMatchObject({ reason: "late" });
    first.release();
    (await patient).release();
    expect(share.counts()).toEqual({ held: 0, waiting: 0, waited: 2, refused: 1 });
  });

  it("keeps places in its queue for others than the one that fills it", async () => {
    const share = new FairShare({ capacity: 1, maxWaiting: 8 });
    const first = share.tryTake({ project: "greedy", key: "a" })!;
    const greedy = Array.from({ length: 50 }, (_, at) =>
      share.take({ project: "greedy", key: String(at) }, { maxWaitMs: 60_000 }),
    );
    const outcomes = Promise.allSettled(greedy.map(async (one) => (await one).release()));
    const other = share.take({ project: "other", key: "b" }, { maxWaitMs: 60_000 });
    first.release();
    (await other).release();
    const refused = (await outcomes).filter(({ status }) => status === "rejected").length;
    expect(refused).toBe(45);
  });
});
