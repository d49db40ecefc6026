import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { noteCalls } from "../../src/calls/note-calls.ts";
import { noteTraces } from "../../src/calls/note-traces.ts";
import { sql } from "../../src/query/sql.ts";
import type { Project } from "../../src/shared/project.ts";
import { ROOT_KEY, startApp, type TestApp } from "../helpers/start-app.ts";

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

describe("noting in which hours calls start and end", () => {
  const started_at = "2026-01-01 09:59:59.000000";
  const ended_at = "2026-01-01 11:00:00.000000";
  const call = { project_id, trace_id: "t", id: "c", hour: 490_905 };
  const noted = async (): Promise<string[]> => {
    const rows = await test.engine.rows<{ note: string }>(
      sql`SELECT concat(kind, ' ', toString(at_hour), ' under ', toString(hour)) AS note FROM call_hours`,
      { name: "test" },
    );
    return rows.map(({ note }) => note).sort();
  };

  it("notes an hour once, and again when the note was deleted with its project", async () => {
    const notes = ["ended 490907 under 490905", "started 490905 under 490905"];
    await noteCalls(test.engine, [{ ...call, started_at }]);
    await noteCalls(test.engine, [
      { ...call, started_at, ended_at },
      { ...call, started_at },
    ]);
    await noteCalls(test.engine, [{ ...call, ended_at }]);
    expect(await noted()).toEqual(notes);

    const answer = await test.app.inject({
      method: "DELETE",
      url: `/projects/${project_id}`,
      headers: { authorization: `Bearer ${ROOT_KEY}` },
    });
    expect(answer.statusCode).toBe(202);
    expect(await noted()).toEqual([]);
    await noteCalls(test.engine, [{ ...call, started_at, ended_at }]);
    expect(await noted()).toEqual(notes);
  });
});
