import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { noteTraces } from "../../src/calls/note-traces.ts";
import { sql } from "../../src/query/sql.ts";
import type { Project } from "../../src/shared/project.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

const ROUNDS = 25;
const project_id = "acme/spanning" as Project;

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
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
    const note = (trace_id: string, hour: number) =>
      noteTraces(test.engine, [{ project_id, trace_id, hour }]);
    const traces = Array.from({ length: ROUNDS }, (_, round) => `both-${round}`);
    for (const trace of traces) await Promise.all([note(trace, 7), note(trace, 9)]);
    expect(await spanning()).toEqual(traces.map((trace) => `${trace}: 7 9`).sort());

    await note("one-hour", 7);
    await note("one-hour", 7);
    await note("both-0", 8);
    const expected = traces.map((trace) => `${trace}: 7 ${trace === "both-0" ? "8 " : ""}9`);
    expect(await spanning()).toEqual(expected.sort());
  });
});
