import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTraceNotes, type NoteTraces } from "../../src/calls/place/note-traces.ts";
import { param, sql, trusted } from "../../src/query/sql.ts";
import { pairKey } from "../../src/shared/pair-key.ts";
import type { Project } from "../../src/shared/project.ts";
import { faultyEngine } from "../helpers/faulty-engine.ts";
import { hasNamedStore } from "../helpers/named-store.ts";
import { runs } from "../helpers/runs.ts";
import { chosenSeed } from "../helpers/seeded-random.ts";
import { startEngine, type TestEngine } from "../helpers/start-app.ts";

const ROUNDS = 25;
const project_id = "acme/spanning" as Project;

let test: TestEngine;
beforeAll(async () => {
  test = await startEngine();
}, 120_000);
afterAll(() => test.close());

async function spanning(): Promise<string[]> {
  const rows = await test.engine.rows<{ trace_id: string; hours: number[] }>(
    sql`SELECT trace_id, arraySort(groupUniqArray(hour)) AS hours FROM spanning_traces GROUP BY trace_id`,
    { name: "test" },
  );
  return rows.map(({ trace_id, hours }) => `${trace_id}: ${hours.join(" ")}`).sort();
}

describe("noting under which hours traces have calls", () => {
  it("finds a trace that two writers begin at the same time in two hours", async () => {
    const writers = [createTraceNotes(test.engine), createTraceNotes(test.engine)];
    const note = (trace_id: string, hour: number, writer = 0) =>
      writers[writer]!([{ project_id, trace_id, hour }]);
    const traces = Array.from({ length: ROUNDS }, (_, round) => `both-${round}`);
    for (const trace of traces) await Promise.all([note(trace, 7, 0), note(trace, 9, 1)]);
    expect(await spanning()).toEqual(traces.map((trace) => `${trace}: 7 9`).sort());

    await note("one-hour", 7);
    await note("one-hour", 7);
    await note("both-0", 8);
    const expected = traces.map((trace) => `${trace}: 7 ${trace === "both-0" ? "8 " : ""}9`);
    expect(await spanning()).toEqual(expected.sort());
  });
});

type Fate = "done" | "refused" | "untold";
type Step =
  | { does: "note"; by: number; places: { trace: string; hour: number }[]; fates: Fate[] }
  | { does: "delete" }
  | { does: "restart"; by: number };
const STRANGE = "ü/\u0000\n'\\☃ 𝛑";
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      does: fc.constant("note" as const),
      by: fc.nat(1),
      places: fc.array(fc.record({ trace: fc.constantFrom("a", "b", STRANGE), hour: fc.nat(2) }), {
        minLength: 1,
        maxLength: 3,
      }),
      fates: fc.array(fc.constantFrom<Fate>("done", "done", "done", "refused", "untold"), { maxLength: 5 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("delete" as const) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("restart" as const), by: fc.nat(1) }) },
);

const LOOK_REFUSED_WHILE_NOTING: Step[] = [
  { does: "note", by: 0, places: [{ trace: "b", hour: 0 }], fates: ["done", "refused"] },
  { does: "note", by: 0, places: [{ trace: "b", hour: 1 }], fates: [] },
];

describe("what two writers in one process remember of their notes", () => {
  let project = "acme/remembered" as Project;
  let projects = 0;
  let fates: Fate[] = [];
  const writer = (): NoteTraces => createTraceNotes(faultyEngine(test.engine, () => fates.shift() ?? "done"));
  const pairs = async (table: string): Promise<string[]> => {
    const rows = await test.engine.rows<{ pair: string }>(
      sql`SELECT DISTINCT concat(trace_id, ' ', toString(hour)) AS pair FROM ${trusted(table)}
          WHERE project_id = ${param("String", project)}`,
      { name: "test" },
    );
    return rows.map(({ pair }) => pair).sort();
  };
  const deleteAll = async (): Promise<void> => {
    for (const table of [sql`trace_hours`, sql`spanning_traces`])
      await test.engine.command(sql`TRUNCATE TABLE ${table}`, { name: "test" });
  };

  it("is in the store, whatever fails and is deleted between", async () => {
    const numRuns = runs(3, 20);
    const property = fc.asyncProperty(fc.array(step, { maxLength: 12, size: "max" }), async (steps) => {
      const writers = [writer(), writer()];
      project = `acme/remembered-${projects++}` as Project;
      for (const one of steps) {
        if (one.does === "restart") writers[one.by] = writer();
        if (one.does === "delete") await deleteAll();
        if (one.does !== "note") continue;
        fates = [...one.fates];
        const hours = await writers[one.by]!(
          one.places.map(({ trace, hour }) => ({ project_id: project, trace_id: trace, hour })),
        ).catch(() => undefined);
        fates = [];
        if (hours === undefined) continue;
        const [stored, spanned] = [await pairs("trace_hours"), await pairs("spanning_traces")];
        for (const trace of new Set(one.places.map((place) => place.trace))) {
          const own = stored.filter((pair) => pair.startsWith(trace));
          const told = hours.get(pairKey(project, trace))!.map((hour) => `${trace} ${hour}`);
          expect(told.toSorted()).toEqual(own);
          if (own.length > 1) expect(spanned).toEqual(expect.arrayContaining(own));
        }
        for (const { trace, hour } of one.places) expect(stored).toContain(`${trace} ${hour}`);
      }
    });
    await fc.assert(property, { numRuns, seed: chosenSeed(), examples: [[LOOK_REFUSED_WHILE_NOTING]] });
  });

  it("costs no statement when it is noted again", async () => {
    const asked: string[] = [];
    const note = createTraceNotes(
      faultyEngine(test.engine, (name) => {
        asked.push(name);
        return "done";
      }),
    );
    const place = { project_id: project, trace_id: "again", hour: 7 };
    await note([place]);
    const count = asked.length;
    await note([place, place]);
    // a store that others may write to is asked each time
    expect(asked.length).toBe(hasNamedStore ? 2 * count : count);
  });
});
