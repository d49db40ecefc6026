import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSameCoverage, findCoverage } from "../../../src/usage-rollup/coverage.ts";
import { MaterializedTraces } from "../../models/materialized-traces.ts";
import { runs } from "../../helpers/runs.ts";
import { seededRandom } from "../../helpers/seeded-random.ts";

const RUNS = runs(1500, 30_000);
const { seed } = seededRandom();
/** The last is far from the others: traces stored under both exceed `MAX_SPAN_HOURS`. */
const HOURS = [10, 11, 12, 13, 100];
const hour = fc.constantFrom(...HOURS);
const trace = fc.nat(5);

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant("write" as const), trace, hour }) },
  // a call that is not written yet
  { weight: 1, arbitrary: fc.record({ does: fc.constant("index" as const), trace, hour }) },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant("materialize" as const),
      first: hour,
      last: hour,
      slices: fc.integer({ min: 1, max: 2 }),
      // index of the manifest to drop
      dropped: fc.option(fc.nat(3), { nil: undefined }),
      // steps until the write
      late: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(3) }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant("materialize all" as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

function take(world: MaterializedTraces, one: Step, later: (work: () => void, steps: number) => void): void {
  if (one.does === "write") world.write(one.trace, one.hour);
  else if (one.does === "index") world.index(one.trace, one.hour);
  else if (one.does === "materialize all") materializeAll(world);
  else {
    const span = { first: Math.min(one.first, one.last), last: Math.max(one.first, one.last) };
    const kept = world.fold(span, one.slices).filter((_, index) => index !== one.dropped);
    later(() => kept.forEach((manifest) => world.store(manifest)), one.late);
  }
}

function materializeAll(world: MaterializedTraces): void {
  for (const first of HOURS)
    for (const last of HOURS)
      if (first <= last) world.fold({ first, last }, 1).forEach((one) => world.store(one));
}

describe("rollup coverage", () => {
  it("counts each trace once: complete and current, or at query time", () => {
    const seen = { materialized: 0, uncovered: 0 };
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
          const counts = world.counts(hours, findCoverage(world.snapshot(hours)));
          for (const how of counts.values()) {
            seen[how === "uncovered" ? "uncovered" : "materialized"]++;
            expect(how).toMatch(/^(uncovered|now( now)*)$/);
          }
        },
      ),
      { seed, numRuns: RUNS },
    );
    expect(seen.materialized).toBeGreaterThan(RUNS / 10);
    expect(seen.uncovered).toBeGreaterThan(RUNS / 10);
  });

  it("counts each trace with calls in requested hours once, with the calls in all other hours", () => {
    const seen = { materialized: 0, uncovered: 0 };
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 1, maxLength: 14, size: "max" }),
        fc.subarray(HOURS, { minLength: 1, maxLength: 2 }),
        (steps, requested) => {
          const world = new MaterializedTraces();
          for (const one of steps) take(world, one, (work) => work());
          const around = HOURS.filter((at) => requested.some((one) => Math.abs(one - at) <= 48));
          const coverage = findCoverage({ ...world.snapshot(around), requested: new Set(requested) });
          const counts = world.counts(HOURS, coverage);
          for (const one of world.counts(requested, coverage).keys()) {
            const how = counts.get(one)!;
            seen[how === "uncovered" ? "uncovered" : "materialized"]++;
            expect(how).toMatch(/^(uncovered|now( now)*)$/);
          }
        },
      ),
      { seed, numRuns: RUNS },
    );
    expect(seen.materialized).toBeGreaterThan(RUNS / 10);
    expect(seen.uncovered).toBeGreaterThan(RUNS / 10);
  });

  it("is everything but too long traces once all spans are materialized", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(trace, hour), { minLength: 1, maxLength: 20 }), (calls) => {
        const world = new MaterializedTraces();
        for (const [one, at] of calls) world.write(one, at);
        materializeAll(world);
        const hoursOf = (one: number): readonly number[] =>
          calls.flatMap(([id, at]) => (id === one ? [at] : []));
        for (const [one, how] of world.counts(HOURS, findCoverage(world.snapshot(HOURS)))) {
          const isLong = Math.max(...hoursOf(one)) - Math.min(...hoursOf(one)) >= 48;
          expect(how).toMatch(isLong ? /^uncovered$/ : /^now( now)*$/);
        }
      }),
      { seed, numRuns: RUNS },
    );
  });

  it("changes once a trace is indexed under another hour, before any call is written there", () => {
    const world = new MaterializedTraces();
    world.write(1, 10);
    materializeAll(world);
    const snapshot = world.snapshot([10]);
    const before = findCoverage(snapshot);
    expect(before.manifests).toHaveLength(1);
    world.index(1, 11);
    const after = findCoverage({ ...snapshot, multiHour: world.snapshot([10]).multiHour });
    expect(isSameCoverage(before, after)).toBe(false);
    expect(after.unmaterializedHours).toEqual([10]);
  });
});
