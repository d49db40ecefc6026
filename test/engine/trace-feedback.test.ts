import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { param, sql } from "../../src/query/sql.ts";
import type { Project } from "../../src/shared/project.ts";
import { readTraceFeedback } from "../../src/traces/read/read-trace-feedback.ts";
import { isLong } from "../helpers/runs.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

const STARTED = "2026-01-02T03:59:59Z";
const LATER = "2026-01-02T04:30:00Z";
const hourOf = (instant: string): number => Math.floor(Date.parse(instant) / 3_600_000);
const hours = [hourOf(STARTED), hourOf(LATER)];

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

async function ingest(
  project: string,
  calls: readonly { id: string; trace_id: string; started_at?: string }[],
) {
  const call = { op_name: "op", started_at: STARTED, attributes: {}, inputs: {} };
  const answer = await test.post(`/v2/${project}/calls/complete`, {
    batch: calls.map((one) => ({ ...call, ...one })),
  });
  expect(answer.json(), answer.text).toEqual({ rejected: [] });
}

async function say(
  project_id: string,
  said: readonly (readonly [about: string, type: string, payload: object])[],
) {
  const batch = said.map(([about, feedback_type, payload]) => ({
    project_id,
    weave_ref: `weave:///${project_id}/call/${about}`,
    feedback_type,
    payload,
  }));
  const answer = await test.post("/feedback/batch/create", { batch });
  expect([answer.status, answer.json().rejected], answer.text).toEqual([200, []]);
  return answer.json();
}

async function summaries(project: string, traceIds: readonly string[]) {
  const traces = traceIds.map((traceId) => ({ traceId, hours }));
  const found = await readTraceFeedback(
    test.engine,
    project as Project,
    traces,
    new AbortController().signal,
  );
  return Object.fromEntries(found);
}

describe("the feedback of traces", () => {
  it("is counted by type over all calls of each trace, with the mean of the first numbers", async () => {
    const project = "acme/summaries";
    await ingest(project, [
      { id: "a", trace_id: "t1" },
      { id: "a1", trace_id: "t1", started_at: LATER },
      { id: "b", trace_id: "t2" },
      { id: "c", trace_id: "t3" },
      { id: "d", trace_id: "t4" },
    ]);
    await say(project, [
      ["a", "score", { note: "9 of 10", value: 0.5, other: 100 }],
      ["a1", "score", { value: 0.25 }],
      ["a1", "score", { text: "none" }],
      ["a", "wandb.reaction.1", { emoji: "👍" }],
      ["a", "wandb.reaction.1", { emoji: "👎" }],
      ["a1", "wandb.note.1", { note: "5 stars, true" }],
      ["b", "score", { value: 3 }],
      ["d", "score", { value: 4 }],
    ]);
    expect(await summaries(project, ["t1", "t2", "t3"])).toEqual({
      t1: [
        { feedback_type: "score", count: 3, avg: 0.375 },
        { feedback_type: "wandb.note.1", count: 1 },
        { feedback_type: "wandb.reaction.1", count: 2 },
      ],
      t2: [{ feedback_type: "score", count: 1, avg: 3 }],
    });
    expect(await summaries(project, [])).toEqual({});
  });

  it("has the mean of the first number or boolean of each payload, in document order", async () => {
    const means: Record<string, readonly [avg: number | undefined, ...payloads: string[]]> = {
      booleans: [2 / 3, '{"ok":true}', '{"ok":true,"value":10}', '{"ok":false}'],
      "a number before a boolean": [10, '{"value":10,"ok":true}'],
      "nested, at any key": [-1.5e-7, '{"none":null,"list":["1",{},{"a.b":{"":-1.5e-7}}],"value":2}'],
      "after quotes, backslashes and numbers in strings": [
        7,
        String.raw`{"a":"x\" 1 \\","\"2\\\"":"\\","b":"true\n3","c":7,"d":8}`,
      ],
      fraction: [0.7, '{"value":0.7}'],
      "long integer": [2 ** 63, '{"value":9223372036854775807}'],
      "large numbers": [1e300, '{"value":1e300}', '{"value":1e300}'],
      "too large a sum": [undefined, '{"value":1.7e308}', '{"value":1.7e308}'],
      "no number": [undefined, "{}", '{"text":"1"}', '{"none":null,"list":[[],{}]}'],
    };
    const project_id = "acme/means";
    const names = Object.keys(means);
    await ingest(
      project_id,
      names.map((name) => ({ id: name, trace_id: name })),
    );
    const batch = Object.entries(means).flatMap(([name, [, ...payloads]]) =>
      payloads.map((payload) => {
        const about = JSON.stringify({
          project_id,
          weave_ref: `weave:///${project_id}/call/${name}`,
          feedback_type: "t",
        });
        return `${about.slice(0, -1)},"payload":${payload}}`;
      }),
    );
    const answer = await test.post("/feedback/batch/create", `{"batch":[${batch.join(",")}]}`);
    expect([answer.status, answer.json().rejected], answer.text).toEqual([200, []]);
    expect(await summaries(project_id, names)).toEqual(
      Object.fromEntries(
        Object.entries(means).map(([name, [avg, ...payloads]]) => {
          const summary = { feedback_type: "t", count: payloads.length };
          return [name, [avg === undefined ? summary : { ...summary, avg }]];
        }),
      ),
    );
  });

  it("leaves out deleted calls, purged or replaced feedback, and other traces, projects and references", async () => {
    const project = "acme/visible";
    await Promise.all([
      ingest(project, [
        { id: "a", trace_id: "t1" },
        { id: "gone", trace_id: "t1" },
        { id: "b", trace_id: "t2" },
      ]),
      ingest("acme/visible2", [{ id: "a", trace_id: "t1" }]),
    ]);
    const elsewhere = {
      project_id: "acme/visible2",
      weave_ref: `weave:///${project}/call/a`,
      feedback_type: "x",
      payload: {},
    };
    const [{ res: said }] = await Promise.all([
      say(project, [
        ["a", "kept", { value: 1 }],
        ["gone", "of a deleted call", {}],
        ["a", "purged", { value: 3 }],
        ["a", "replaced", { value: 4 }],
        ["b", "of another trace", {}],
        ["unknown", "of an unknown call", {}],
        ["a/more", "of another reference", {}],
      ]),
      say("acme/visible2", [["a", "of another project", {}]]),
      test.post("/feedback/create", elsewhere),
    ]);
    const isPurged = { $expr: { $eq: [{ $getField: "id" }, { $literal: said[2].id }] } };
    const changes = await Promise.all([
      test.post("/calls/delete", { project_id: project, call_ids: ["gone"] }),
      test.post("/feedback/purge", { project_id: project, query: isPurged }),
      test.post("/feedback/replace", {
        project_id: project,
        feedback_id: said[3].id,
        weave_ref: `weave:///${project}/call/b`,
        feedback_type: "moved",
        payload: { value: 5 },
      }),
    ]);
    expect(changes.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await summaries(project, ["t1", "t2"])).toEqual({
      t1: [{ feedback_type: "kept", count: 1, avg: 1 }],
      t2: [
        { feedback_type: "moved", count: 1, avg: 5 },
        { feedback_type: "of another trace", count: 1 },
      ],
    });
  });

  it("counts in each trace that has a call with the id, once", async () => {
    const project = "acme/twice";
    await ingest(project, [
      { id: "a", trace_id: "t1" },
      { id: "a", trace_id: "t2" },
      { id: "a", trace_id: "t3" },
    ]);
    await say(project, [["a", "score", { value: 1 }]]);
    const once = [{ feedback_type: "score", count: 1, avg: 1 }];
    expect(await summaries(project, ["t1", "t2"])).toEqual({ t1: once, t2: once });
  });

  it.runIf(isLong)("is refused if it has too many types", async () => {
    const project = "acme/types";
    await ingest(project, [{ id: "a", trace_id: "t1" }]);
    await test.engine.command(
      sql`INSERT INTO feedback (project_id, created_at, id, version, deleted, feedback_type, weave_ref, payload)
        SELECT ${param("String", project)}, toDateTime64('2026-01-02 03:04:05', 6, 'UTC'), toString(number), 1, 0,
          toString(number), ${param("String", `weave:///${project}/call/a`)}, '{}' FROM numbers(50001)`,
      { name: "test" },
    );
    await expect(summaries(project, ["t1"])).rejects.toMatchObject({ code: "too_many_calls" });
  });
});
