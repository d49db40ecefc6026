import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { Project } from "../../src/shared/project.ts";
import { readTraceLines } from "../../src/calls/read/trace/store.ts";
import { runs } from "../helpers/runs.ts";
import { chosenSeed } from "../helpers/seeded-random.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

const MAX_CALLS = 400;

let test: TestApp;
beforeAll(async () => {
  test = await startApp({ settings: { MAX_TRACE_CALLS: String(MAX_CALLS) } });
});
afterAll(() => test.close());

let projects = 0;
const BEGAN = Date.parse("2026-11-20T12:00:00Z");

async function stored(calls: readonly object[]): Promise<string> {
  const project_id = `acme/trace-calls-${++projects}`;
  const batch = calls.map((call) => ({
    trace_id: "t",
    op_name: "op",
    started_at: "2026-11-20T12:00:00.123456Z",
    inputs: {},
    attributes: {},
    ...call,
  }));
  const response = await test.post(`/v2/${project_id}/calls/complete`, {
    batch: batch.filter((call) => "ended_at" in call),
  });
  expect(response.json(), response.text).toEqual({ rejected: [] });
  for (const start of batch.filter((call) => !("ended_at" in call)))
    await test.post("/call/start", { start: { project_id, ...start } });
  return project_id;
}

type Line = readonly (string | number | null)[];

async function linesOf(project_id: string, trace_id = "t"): Promise<readonly Record<string, Line[number]>[]> {
  const { status, text } = await test.post("/trace/calls", { project_id, trace_id });
  expect(status, text).toBe(200);
  expect(text.endsWith("\n")).toBe(true);
  const [names, ...lines] = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
  return lines.map((line) => {
    expect(line).toHaveLength(names!.length);
    return Object.fromEntries(names!.map((name, at) => [name, line[at]!]));
  });
}

const ended_at = "2026-11-20T12:00:01Z";

describe("POST /trace/calls", () => {
  it("lists calls without payloads, oldest first", async () => {
    const project = await stored([
      { id: "late", started_at: "2026-11-20T12:00:05Z", parent_id: "root" },
      { id: "root", ended_at, display_name: "Run", exception: "🦄".repeat(250) },
    ]);
    expect(await linesOf(project)).toEqual([
      {
        id: "root",
        parent_id: null,
        op_name: "op",
        display_name: "Run",
        started_ms: BEGAN + 123.456,
        ended_ms: BEGAN + 1000,
        exception: "🦄".repeat(200),
      },
      {
        id: "late",
        parent_id: "root",
        op_name: "op",
        display_name: null,
        started_ms: BEGAN + 5000,
        ended_ms: null,
        exception: null,
      },
    ]);
  });

  it("lists only calls of the project's trace, without deleted ones, as renamed", async () => {
    const project = await stored([
      { id: "a", ended_at },
      { id: "b", ended_at },
      { id: "c", ended_at, trace_id: "other" },
    ]);
    await stored([{ id: "d", ended_at }]);
    await test.post("/calls/delete", { project_id: project, call_ids: ["b"] });
    await test.post("/call/update", { project_id: project, call_id: "a", display_name: "renamed" });
    expect((await linesOf(project)).map(({ id, display_name }) => [id, display_name])).toEqual([
      ["a", "renamed"],
    ]);
    expect(await linesOf(project, "none")).toEqual([]);
  });

  it("returns any names as sent", async () => {
    const names = ["__proto__", "</script>", 'a"b\\c', "\u2028\u202e", "🦄/\t", "1"];
    const project = await stored(
      names.map((name) => ({ id: name, op_name: name, ended_at, exception: name })),
    );
    const lines = await linesOf(project);
    expect(new Set(lines.map(({ id }) => id))).toEqual(new Set(names));
    for (const { id, op_name, exception } of lines) expect([op_name, exception]).toEqual([id, id]);
  });

  it("rejects a trace above the maximum number of calls, and accepts one at the maximum", async () => {
    const calls = Array.from({ length: MAX_CALLS }, (_, at) => ({ id: `c${at}`, ended_at }));
    const project = await stored(calls);
    expect(await linesOf(project)).toHaveLength(MAX_CALLS);
    await test.post("/call/start", {
      start: {
        project_id: project,
        trace_id: "t",
        id: "more",
        op_name: "op",
        started_at: ended_at,
        inputs: {},
        attributes: {},
      },
    });
    const { status, text } = await test.post("/trace/calls", { project_id: project, trace_id: "t" });
    expect(status).toBe(413);
    expect(text).toContain(`${MAX_CALLS + 1} calls`);
  });

  it("lists every call once, in order, across pages", async () => {
    const seed = chosenSeed();
    const calls = Array.from({ length: 120 }, (_, at) => ({
      id: `c${(at * 37) % 120}`,
      // several begin at once
      started_at: new Date(BEGAN + (at % 11)).toISOString(),
      op_name: "o".repeat((at * 53) % 3000),
      ended_at,
    }));
    const name = await stored(calls);
    const project = name as Project;
    const expected = (await linesOf(name)).map(({ id }) => id);
    expect(expected).toHaveLength(120);
    const sizes = fc.record({
      calls: fc.integer({ min: 13, max: 130 }),
      bytes: fc.integer({ min: 60_000, max: 300_000 }),
    });
    await fc.assert(
      fc.asyncProperty(sizes, async (page) => {
        const options = { maxCalls: MAX_CALLS, signal: new AbortController().signal, page };
        let text = "";
        for await (const piece of readTraceLines(test.engine, { project, traceId: "t" }, options))
          text += piece.toString();
        const ids = text
          .trimEnd()
          .split("\n")
          .map((line) => (JSON.parse(line) as Line)[0]);
        expect(ids).toEqual(expected);
      }),
      { seed, numRuns: runs(1, 15), endOnFailure: true },
    );
  });
});

describe("POST /trace/sizes", () => {
  it("counts all, failed and unfinished calls of whole traces", async () => {
    const project_id = await stored([
      { id: "a", ended_at },
      { id: "b", ended_at, exception: "no" },
      { id: "c", started_at: "2024-01-01T00:00:00Z" },
      { id: "d", ended_at, trace_id: "__proto__" },
      { id: "gone", ended_at, trace_id: "__proto__" },
    ]);
    await test.post("/calls/delete", { project_id, call_ids: ["gone"] });
    const sizesOf = async (trace_ids: readonly string[]) =>
      (await test.post("/trace/sizes", { project_id, trace_ids })).json();
    expect(await sizesOf(["t", "__proto__", "none"])).toEqual({
      sizes: [
        { trace_id: "__proto__", calls: 1, failed: 0, unfinished: 0 },
        { trace_id: "t", calls: 3, failed: 1, unfinished: 1 },
      ],
    });
    expect(await sizesOf([])).toEqual({ sizes: [] });
  });
});
