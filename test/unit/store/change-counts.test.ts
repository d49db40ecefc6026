import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ChangeCounts, type HourOfProject } from "../../../src/store/change-counts.ts";

const PLACES: readonly HourOfProject[] = [1, 2].flatMap((hour) =>
  ["acme/a", "acme/b", "1 acme/a"].map((project_id) => ({ project_id, hour })),
);
const TABLES = ["calls", "other"];
const place = fc.nat(PLACES.length - 1);

const change = fc.record({
  does: fc.constant("begin" as const),
  table: fc.constantFrom(...TABLES, undefined),
  /** Undefined: what its rows are is not known. */
  rows: fc.option(fc.array(place, { minLength: 1, maxLength: 4 }), { nil: undefined }),
  /** Some rows do not say their hour. */
  hasOther: fc.boolean(),
  fails: fc.boolean(),
});
const step = fc.oneof(
  { weight: 3, arbitrary: change },
  { weight: 2, arbitrary: fc.record({ does: fc.constant("end" as const), pick: fc.nat(10) }) },
);
type Change = typeof change extends fc.Arbitrary<infer One> ? One : never;

/** Whether a change touches an hour of a table; undefined: the table as a whole. */
function touches(one: Change, table: string, hour: number | undefined): boolean {
  if (one.table === undefined) return true;
  if (one.table !== table) return false;
  return hour === undefined || one.rows === undefined || one.hasOther || one.rows.includes(hour);
}

describe("the counts of changes", () => {
  it("of an hour are the same only while nothing that may be of it has begun, however few hours it keeps", async () => {
    let [same, forgotten] = [0, 0];
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 30, size: "max" }),
        fc.integer({ min: 0, max: 7 }),
        async (steps, maxHours) => {
          const counts = new ChangeCounts(maxHours);
          const running: { readonly one: Change; readonly end: () => void; readonly done: Promise<void> }[] =
            [];
          const seen = new Map<string, Map<number, number>>();
          /** Of each table and hour: how many changes touched it. */
          const touched = new Map<string, number>();
          for (const next of steps) {
            if (next.does === "begin") {
              const { promise, resolve, reject } = Promise.withResolvers<void>();
              const rows = next.rows?.map((one) => ({ ...PLACES[one], id: "x" }));
              const given = next.hasOther ? rows?.concat({ id: "x" } as never) : rows;
              const done = counts.during(next.table, () => promise, given).catch(() => undefined);
              running.push({
                one: next,
                end: () => (next.fails ? reject(new Error("failed")) : resolve()),
                done,
              });
            } else if (running.length > 0) {
              const [ended] = running.splice(next.pick % running.length, 1);
              ended!.end();
              await ended!.done;
            }
            for (const table of TABLES)
              for (const hour of [undefined, ...PLACES.keys()]) {
                const key = `${table} ${hour}`;
                const times = touched.get(key) ?? 0;
                const now = times + Number(next.does === "begin" && touches(next, table, hour));
                touched.set(key, now);
                const count = counts.of(table, hour === undefined ? undefined : PLACES[hour]);
                const isRunning = running.some(({ one }) => touches(one, table, hour));
                expect(count === undefined).toBe(isRunning);
                if (count === undefined) continue;
                const before = seen.get(key) ?? new Map<number, number>();
                seen.set(key, before);
                expect(before.get(count) ?? now).toBe(now);
                if (before.has(count)) same++;
                else if (now === times) forgotten++;
                before.set(count, now);
              }
          }
          for (const { end } of running) end();
        },
      ),
      { numRuns: 300 },
    );
    expect(same).toBeGreaterThan(0);
    expect(forgotten).toBeGreaterThan(0);
  });

  it("do not count what is written under another hour, or of another project", async () => {
    const counts = new ChangeCounts();
    const insert = (...rows: readonly object[]): Promise<void> =>
      counts.during("calls", async () => undefined, rows);
    const of = (hour: number, project_id = "acme/a"): number | undefined =>
      counts.of("calls", { project_id, hour });
    await insert(
      { project_id: "acme/a", hour: 1 },
      { project_id: "acme/a", hour: 2 },
      { project_id: "acme/b", hour: 2 },
    );
    expect([of(1), of(2), of(3), of(1, "acme/b"), of(2, "acme/b"), counts.of("calls")]).toEqual([
      1, 1, 0, 0, 1, 1,
    ]);
    await insert({ project_id: "acme/a" });
    expect([of(1), of(3), counts.of("calls")]).toEqual([2, 1, 2]);
  });
});
