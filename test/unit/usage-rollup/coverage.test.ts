import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSameCoverage, findCoverage } from "../../../src/usage-rollup/coverage.ts";
import { MaterializedTraces } from "../../models/materialized-traces.ts";
import { runs } from "../../helpers/runs.ts";
import { seededRandom } from "../../helpers/seeded-random.ts";

const RUNS = runs(1500, 30_000);
const { seed } = seededRandom();
/** One of them far from the others: traces that lie under it and under them are too long. */
const HOURS = [10, 11, 12, 13, 100];
const hour = fc.constantFrom(...HOURS);
const trace = fc.nat(5);

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant("write" as const), trace, hour }) },
  // a call that is not written yet
  { weight: 1, arbitrary: fc.record({ does: fc.constant("note" as const), trace, hour }) },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant("settle" as const),
      first: hour,
      last: hour,
      parts: fc.integer({ min: 1, max: 2 }),
      // of the heads, which one is lost
      lost: fc.option(fc.nat(3), { nil: undefined }),
      // it is written after as many further steps
      late: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(3) }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant("settle all" as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

function take(world: MaterializedTraces, one: Step, later: (work: () => void, steps: number) => void): void {
  if (one.does === "write") world.write(one.trace, one.hour);
  else if (one.does === "note") world.note(one.trace, one.hour);
  else if (one.does === "settle all") materializeAll(world);
  else {
    const group = { first: Math.min(one.first, one.last), last: Math.max(one.first, one.last) };
    const kept = world.fold(group, one.parts).filter((_, place) => place !== one.lost);
    later(() => kept.forEach((head) => world.keep(head)), one.late);
  }
}

function materializeAll(world: MaterializedTraces): void {
  for (const first of HOURS)
    for (const last of HOURS)
      if (first <= last) world.fold({ first, last }, 1).forEach((one) => world.keep(one));
}

describe("what is settled of some hours", () => {
  it("has each trace as it is now and whole, or it is folded live, and never both", () => {
    const seen = { materialized: 0, live: 0 };
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 1, maxLength: 14, size: "max" }),
        fc.subarray(HOURS, { minLength: 1 }),
        (steps, hours) => {
          const world = new MaterializedTraces();
          const waiting: { work: () => void; left: number }[] = [];
          for (const one of steps) {
            take(world, one, (work, left) => (left === 0 ? work() : waiting.push({ work, left })));
            for (const each of waiting) if (each.left-- === 0) each.work();
          }
          const counts = world.counts(hours, findCoverage(world.look(hours)));
          for (const how of counts.values()) {
            seen[how === "live" ? "live" : "materialized"]++;
            expect(how).toMatch(/^(live|now( now)*)$/);
          }
        },
      ),
      { seed, numRuns: RUNS },
    );
    expect(seen.materialized).toBeGreaterThan(RUNS / 10);
    expect(seen.live).toBeGreaterThan(RUNS / 10);
  });

  it("is everything but long traces once all groups were settled", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(trace, hour), { minLength: 1, maxLength: 20 }), (calls) => {
        const world = new MaterializedTraces();
        for (const [one, at] of calls) world.write(one, at);
        materializeAll(world);
        const hoursOf = (one: number): readonly number[] =>
          calls.flatMap(([id, at]) => (id === one ? [at] : []));
        for (const [one, how] of world.counts(HOURS, findCoverage(world.look(HOURS)))) {
          const isLong = Math.max(...hoursOf(one)) - Math.min(...hoursOf(one)) >= 48;
          expect(how).toMatch(isLong ? /^live$/ : /^now( now)*$/);
        }
      }),
      { seed, numRuns: RUNS },
    );
  });

  it("is another after a trace has come to lie under another hour, before any call is written there", () => {
    const world = new MaterializedTraces();
    world.write(1, 10);
    materializeAll(world);
    const look = world.look([10]);
    const before = findCoverage(look);
    expect(before.manifests).toHaveLength(1);
    world.note(1, 11);
    const after = findCoverage({ ...look, multiHour: world.look([10]).multiHour });
    expect(isSameCoverage(before, after)).toBe(false);
    expect(after.unmaterializedHours).toEqual([10]);
  });
});
