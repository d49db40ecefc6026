import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { param, sql } from "../../src/query/sql.ts";
import type { Project } from "../../src/shared/project.ts";
import { readRootTexts, type RootKey } from "../../src/traces/read/read-root-texts.ts";
import { interceptStatements } from "../helpers/intercept-statements.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

const project = "acme/texts" as Project;
const STARTED = "2026-01-02T03:04:05Z";
const HOUR = Math.floor(Date.parse(STARTED) / 3_600_000);
const { signal } = new AbortController();

let test: TestApp;
beforeAll(async () => {
  test = await startApp({ settings: { INGEST_BODY_LIMIT_BYTES: String(48 * 1024 * 1024) } });
});
afterAll(() => test.close());

interface Draft {
  readonly id: string;
  readonly trace_id: string;
  readonly inputs?: object;
  readonly output?: unknown;
}

async function ingest(drafts: readonly Draft[], into: string = project): Promise<void> {
  const call = {
    op_name: "op",
    started_at: STARTED,
    ended_at: STARTED,
    attributes: {},
    summary: {},
    inputs: {},
  };
  const answer = await test.post(`/v2/${into}/calls/complete`, {
    batch: drafts.map((one) => ({ ...call, ...one })),
  });
  expect(answer.json(), answer.text).toEqual({ rejected: [] });
}

const keyOf = ({ id, trace_id: traceId }: Draft): RootKey => ({ id, traceId, hour: HOUR });
const read = (drafts: readonly Draft[]) => readRootTexts(test.engine, project, drafts.map(keyOf), signal);

const PADDING = "A".repeat(300_000);

describe("previews of roots", () => {
  it("are null of payloads above 256 KiB, and of none", async () => {
    const drafts = [
      { id: "both", trace_id: "both", inputs: { question: "Why?" }, output: "Rain." },
      { id: "one", trace_id: "one", inputs: { question: PADDING }, output: "Rain." },
      { id: "other", trace_id: "other", inputs: { question: "Why?" }, output: { answer: PADDING } },
      { id: "none", trace_id: "none" },
    ];
    // one by one they are too small for the worker thread, which takes seconds to start
    await Promise.all(drafts.map((draft) => ingest([draft])));
    expect(Object.fromEntries(await read(drafts))).toEqual({
      both: { input_preview: "Why?", output_preview: "Rain." },
      one: { input_preview: null, output_preview: "Rain." },
      other: { input_preview: "Why?", output_preview: null },
      none: { input_preview: null, output_preview: null },
    });
  });

  it("are of these roots alone, not of calls with their ids in other traces or projects, nor of deleted ones", async () => {
    const call = (id: string, trace_id: string) => ({ id, trace_id, inputs: { text: `${trace_id}/${id}` } });
    await ingest([call("a", "t1"), call("b", "t1"), call("a", "t2"), call("b", "t2"), call("gone", "t3")]);
    await ingest([{ ...call("a", "t1"), inputs: { text: "theirs" } }], "acme/other");
    const deleted = await test.post("/calls/delete", { project_id: project, call_ids: ["gone"] });
    expect(deleted.status, deleted.text).toBe(200);
    const found = await read([call("a", "t1"), call("b", "t2"), call("gone", "t3"), call("never", "t4")]);
    expect(Object.fromEntries(found)).toMatchObject({
      t1: { input_preview: "t1/a" },
      t2: { input_preview: "t2/b" },
    });
    expect(found.size).toBe(2);
  });

  it("are null of text that is no JSON", async () => {
    const key = { project_id: project, hour: HOUR, trace_id: "bad", id: "bad" };
    const large = { ...key, trace_id: "worse", id: "worse" };
    const rows = [
      { ...key, inputs: '{"text":"cut', output: "NaN{" },
      { ...large, inputs: `{"messages":[${PADDING}`, output: `"${PADDING}` },
    ].map((row) => ({ ...row, started_at: "2026-01-02 03:04:05" }));
    await test.engine.insert("calls", rows, { name: "test" });
    const nothing = { input_preview: null, output_preview: null };
    expect(await read([key, large])).toEqual(new Map(["bad", "worse"].map((id) => [id, nothing])));
  });

  it("are read page by page, of payloads that are too large together", async () => {
    const drafts = Array.from({ length: 40 }, (_, n) => ({ id: `many${n}`, trace_id: `many${n}` }));
    const payload = sql`concat('{"messages":[{"role":"user","content":"', id, ' ', repeat('x', 200000), '"}]}')`;
    await test.engine.command(
      sql`INSERT INTO calls (project_id, hour, trace_id, id, started_at, inputs, output)
        SELECT ${param("String", project)}, ${param("Int64", HOUR)}, concat('many', toString(number)) AS id, id,
          toDateTime64('2026-01-02 03:04:05', 6, 'UTC'), ${payload}, ${payload} FROM numbers(40)`,
      { name: "test" },
    );
    const sizes: number[] = [];
    const counting = interceptStatements(test.engine, async (_name, run) => {
      const answer = await run();
      sizes.push(Buffer.isBuffer(answer) ? answer.length : 0);
      return answer;
    });
    const found = await readRootTexts(counting, project, drafts.map(keyOf), signal);
    expect(found.size).toBe(40);
    for (const [trace, { input_preview }] of found)
      expect(input_preview).toBe(`${trace} ${"x".repeat(200)}`.slice(0, 200));
    expect(sizes.reduce((sum, size) => sum + size)).toBeGreaterThan(16_000_000);
    expect(Math.max(...sizes)).toBeLessThan(16 * 1024 * 1024);
  });
});
