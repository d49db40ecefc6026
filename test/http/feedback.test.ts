import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { addKey } from "../helpers/add-key.ts";
import { isLong, runs } from "../helpers/runs.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

let nowMs = Date.parse("2026-03-01T12:00:00.250Z");
const reaction = (emoji: string, alias: string, more: object = {}): [string, object, object] => [
  "wandb.reaction.1",
  { emoji },
  { emoji, alias, detoned: emoji, detoned_alias: alias, ...more },
];

let test: TestApp;
let writerKey: string;
beforeAll(async () => {
  test = await startApp({ deps: { clock: { now: () => nowMs } } });
  writerKey = await addKey(test, ["ingest", "calls:delete"], ["acme/*"]);
});
afterAll(() => test.close());

let project_id: string;
let projects = 0;
beforeEach(() => {
  project_id = `acme/feedback-${projects++}`;
});

function feedback(more: object = {}): object {
  const weave_ref = `weave:///${project_id}/call/1`;
  return { project_id, weave_ref, feedback_type: "custom", payload: { score: 1 }, ...more };
}

async function create(more: object = {}) {
  const answer = await test.post("/feedback/create", feedback(more));
  expect(answer.status, answer.text).toBe(200);
  return answer.json();
}

const issuesIn = ({ detail }: { detail: { loc: unknown; type: string }[] }) =>
  detail.map(({ loc, type }) => [loc, type]);

/** Reads count and sum of `score` from 2026-03-01 to 2026-03-31, and the days with feedback. */
async function total() {
  const answer = await test.post("/feedback/stats", {
    project_id,
    start: "2026-03-01T00:00:00Z",
    end: "2026-04-01T00:00:00Z",
    metrics: [{ json_path: "score", aggregations: ["sum"] }],
  });
  const { buckets, window_stats } = answer.json();
  const days = buckets.filter((bucket: { count: number }) => bucket.count > 0);
  return {
    count: days.reduce((sum: number, day: { count: number }) => sum + day.count, 0),
    sum: window_stats.score.sum,
    days: days.map((day: { timestamp: string }) => day.timestamp.slice(8, 10)),
  };
}

describe("POST /feedback/create", () => {
  it("returns the stored feedback, with the time of the server", async () => {
    const answer = await test.post("/feedback/create", feedback({ payload: { output: 0.7 } }), {
      key: writerKey,
    });
    expect(answer.json()).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      created_at: "2026-03-01T12:00:00.250Z",
      wb_user_id: /^st_([0-9a-z]+)_/.exec(writerKey)![1],
      payload: { output: 0.7 },
    });
  });

  it("keeps 64-bit numbers exactly, and stores numbers that are not finite as null", async () => {
    const body = JSON.stringify(feedback()).replace(
      '{"score":1}',
      '{"big":9223372036854775807,"bad":NaN,"huge":1e999}',
    );
    const answer = await test.post("/feedback/create", body);
    expect(answer.text).toContain('"payload":{"big":9223372036854775807,"bad":null,"huge":null}');
  });

  it("counts feedback with a repeated id once: the last content, on the first day", async () => {
    await create({ id: "same", payload: { score: 1 } });
    nowMs += 86_400_000;
    const again = await create({ id: "same", payload: { score: 5 } });
    nowMs -= 86_400_000;
    expect(again.created_at).toBe("2026-03-01T12:00:00.250Z");
    expect(await total()).toEqual({ count: 1, sum: 5, days: ["01"] });
  });

  it("stores the same id in two projects separately", async () => {
    await create({ id: "shared" });
    await create({ id: "shared", project_id: "acme/other-project", payload: { score: 9 } });
    expect(await total()).toMatchObject({ count: 1, sum: 1 });
  });

  it("accepts created_at only from keys of scope admin", async () => {
    const created_at = "2026-03-05T08:00:00+02:00";
    expect((await create({ created_at })).created_at).toBe("2026-03-05T06:00:00.000Z");
    const refused = await test.post("/feedback/create", feedback({ created_at }), { key: writerKey });
    expect(refused.status).toBe(403);
    await create({ id: "moved", created_at });
    await create({ id: "moved", created_at: "2026-03-07T00:00:00Z" });
    expect(await total()).toEqual({ count: 2, sum: 2, days: ["05", "07"] });
  });

  it("rejects a project that the key does not cover", async () => {
    const refused = await test.post("/feedback/create", feedback({ project_id: "umbrella/x" }), {
      key: writerKey,
    });
    expect(refused.status).toBe(403);
  });

  it("accepts any ref, and unknown members", async () => {
    await create({
      trigger_ref: "no ref at all",
      runnable_ref: null,
      annotation_ref: "weave:///x",
      unknown: { a: 1 },
    });
    await create({ feedback_type: "wandb.runnable.acc", payload: { output: 0.7 } });
  });

  const accepted: [string, object, object][] = [
    reaction("👍🏽", ":thumbs_up_medium_skin_tone:", { detoned: "👍", detoned_alias: ":thumbs_up:" }),
    reaction("❤", ":red_heart:"),
    reaction("🏳️‍🌈", ":rainbow_flag:"),
    reaction("🇳🇱", ":Netherlands:"),
    ["wandb.note.1", { note: "x".repeat(1024) }, { note: "x".repeat(1024) }],
    ["wandb.annotation.helpfulness", { value: null }, { value: null }],
    ["wandb.runnable.tone", { output: { score: 1 }, more: 1 }, { output: { score: 1 }, more: 1 }],
    ["wandb.agent_monitor.x", {}, {}],
    ["custom.anything", {}, {}],
  ];
  const rejected: [string, object, string[], string][] = [
    ["wandb.reaction.1", { emoji: "👍👍" }, ["emoji"], "value_error"],
    ["wandb.reaction.1", { emoji: "a" }, ["emoji"], "value_error"],
    ["wandb.reaction.1", { emoji: "" }, ["emoji"], "value_error"],
    ["wandb.reaction.1", {}, ["emoji"], "missing"],
    ["wandb.note.1", { note: "" }, ["note"], "string_too_short"],
    ["wandb.note.1", { note: "x".repeat(1025) }, ["note"], "string_too_long"],
    ["wandb.note.1", { note: 7 }, ["note"], "string_type"],
    ["wandb.annotation.isok", { output: 1 }, ["value"], "missing"],
    ["wandb.runnable.acc", { value: 1 }, ["output"], "missing"],
  ];
  it("checks and completes the payload of each type", async () => {
    const batch = [...accepted, ...rejected].map(([feedback_type, payload]) =>
      feedback({ feedback_type, payload }),
    );
    const { res, rejected: faulty } = (await test.post("/feedback/batch/create", { batch })).json();
    expect(res.slice(0, accepted.length)).toMatchObject(accepted.map(([, , payload]) => ({ payload })));
    expect(faulty.map(issuesIn)).toEqual(
      rejected.map(([, , loc, type], at) => [
        [["body", "batch", accepted.length + at, "payload", ...loc], type],
      ]),
    );
  });

  it.each([
    [{ payload: undefined }, ["payload"], "missing"],
    [{ payload: [1] }, ["payload"], "dict_type"],
    [{ payload: "text" }, ["payload"], "dict_type"],
    [{ payload: { v: Array(10_001).fill(0) } }, ["payload"], "too_long"],
    [{ payload: JSON.parse(`${'{"a":'.repeat(300)}1${"}".repeat(300)}`) }, ["payload"], "recursion_loop"],
    [{ feedback_type: "" }, ["feedback_type"], "too_short"],
    [{ weave_ref: undefined }, ["weave_ref"], "missing"],
    [{ created_at: "yesterday" }, ["created_at"], "datetime_parsing"],
    [{ project_id: "noslash" }, ["project_id"], "string_pattern_mismatch"],
  ])("rejects a fault of its members: %#", async (more, loc, type) => {
    const answer = await test.post("/feedback/create", feedback(more));
    expect([answer.status, issuesIn(answer.json())]).toEqual([422, [[["body", ...loc], type]]]);
  });
});

describe("POST /feedback/batch/create", () => {
  it("stores the valid items, and returns a result or an error for each, in order", async () => {
    const batch = [
      feedback({ id: "b0" }),
      { ...feedback(), payload: 1 },
      17,
      feedback({ id: "b3", payload: { score: 4 } }),
    ];
    const answer = await test.post("/feedback/batch/create", { batch });
    const { res, rejected } = answer.json();
    expect([answer.status, res.map((one: { id?: string }) => one.id)]).toEqual([
      200,
      ["b0", undefined, undefined, "b3"],
    ]);
    expect(rejected).toEqual([
      {
        index: 1,
        detail: [{ loc: ["body", "batch", 1, "payload"], msg: expect.anything(), type: "dict_type" }],
      },
      { index: 2, detail: [{ loc: ["body", "batch", 2], msg: expect.anything(), type: "dict_type" }] },
    ]);
    expect(res[1]).toEqual({ error: rejected[0].detail });
    expect(await total()).toMatchObject({ count: 2, sum: 5 });
  });

  it("keeps every id of a batch that takes several lookups, and in which ids and projects repeat", async () => {
    const batch = Array.from({ length: 3300 }, (_, n) =>
      feedback({ id: `d${n % 2200}`, ...(n % 2 === 0 ? {} : { project_id: "acme/other-half" }) }),
    );
    for (const _again of [1, 2])
      expect((await test.post("/feedback/batch/create", { batch })).json().rejected).toEqual([]);
    expect(await total()).toMatchObject({ count: 1100 });
  });

  it.runIf(isLong)(
    "rejects items beyond the memory limit: paths can be far longer than the payload's text",
    async () => {
      const payload = { ["k".repeat(1000)]: Array.from({ length: 1000 }, () => true) };
      const batch = Array.from({ length: 150 }, () => feedback({ payload }));
      const answer = await test.post("/feedback/batch/create", { batch });
      expect(answer.status).toBe(200);
      const { rejected } = answer.json();
      expect(rejected.length).toBeGreaterThan(0);
      expect(rejected.at(-1)).toMatchObject({ index: 149, detail: [{ type: "too_long" }] });
      expect(await total()).toMatchObject({ count: 150 - rejected.length });
    },
  );

  it("returns 403 for a wrong key", async () => {
    const batch = [feedback({ project_id: "umbrella/x" })];
    expect((await test.post("/feedback/batch/create", { batch }, { key: writerKey })).status).toBe(403);
  });
});

describe("POST /feedback/stats during writes", () => {
  it("covers the same rows in the buckets and in the window", async () => {
    const asked = new AbortController();
    const writer = (async () => {
      for (let n = 0; !asked.signal.aborted; n++) {
        const created_at = new Date(Date.UTC(2026, 2, 1 + (n % 28))).toISOString();
        await test.post(
          "/feedback/create",
          feedback({ id: `s${n % 40}`, created_at, payload: { score: n } }),
        );
      }
    })();
    for (let question = 0; question < runs(6, 30); question++) {
      const answer = await test.post("/feedback/stats", {
        project_id,
        start: "2026-03-01T00:00:00Z",
        end: "2026-04-01T00:00:00Z",
        metrics: [{ json_path: "score", aggregations: ["count", "sum"] }],
      });
      const { buckets, window_stats } = answer.json();
      const add = (key: string) =>
        buckets.reduce((sum: number, bucket: Record<string, number>) => sum + bucket[key]!, 0);
      expect({ count: add("count_score"), sum: add("sum_score") }).toEqual(window_stats.score);
      // an import that moves an id to another day is never seen on both
      expect(add("count")).toBeLessThanOrEqual(40);
    }
    asked.abort();
    await writer;
  });
});

describe("POST /feedback/replace", () => {
  it("replaces a feedback, which keeps its id and its time", async () => {
    const { id, created_at } = await create();
    nowMs += 86_400_000;
    const answer = await test.post("/feedback/replace", {
      ...feedback({ payload: { score: 7 } }),
      feedback_id: id,
    });
    nowMs -= 86_400_000;
    expect(answer.json()).toMatchObject({ id, created_at, payload: { score: 7 } });
    expect(await total()).toEqual({ count: 1, sum: 7, days: ["01"] });
  });

  it("deletes the old feedback if the new one has another id", async () => {
    const { id } = await create();
    const body = { ...feedback({ id: "next", payload: { score: 3 } }), feedback_id: id };
    for (const _again of [1, 2]) expect((await test.post("/feedback/replace", body)).json().id).toBe("next");
    expect(await total()).toMatchObject({ count: 1, sum: 3 });
  });
});

describe("POST /feedback/purge", () => {
  const byId = (id: string) => ({ $eq: [{ $getField: "id" }, { $literal: id }] });

  it("deletes by id, in this project only, and an id can be used again", async () => {
    for (const id of ["p1", "p2", "p3"]) await create({ id });
    await create({ id: "p1", project_id: "acme/not-purged" });
    const query = { $expr: { $or: [byId("p1"), byId("p2"), byId("never")] } };
    const answer = await test.post("/feedback/purge", { project_id, query }, { key: writerKey });
    expect([answer.status, answer.json()]).toEqual([200, {}]);
    expect(await total()).toMatchObject({ count: 1 });
    nowMs += 86_400_000;
    expect((await create({ id: "p1" })).created_at).toBe(new Date(nowMs).toISOString());
    nowMs -= 86_400_000;
    expect(await total()).toMatchObject({ count: 2, days: ["01", "02"] });
  });

  it("rejects queries that do not select by id", async () => {
    const query = { $expr: { $eq: [{ $getField: "creator" }, { $literal: "me" }] } };
    expect((await test.post("/feedback/purge", { project_id, query })).status).toBe(422);
  });
});

describe("POST /feedback/query", () => {
  async function list(more: object = {}, truncated = false) {
    const answer = await test.post("/feedback/query", { project_id, ...more });
    expect([answer.status, answer.headers["x-truncated"]], answer.text).toEqual([200, String(truncated)]);
    return answer.json().result as Record<string, unknown>[];
  }
  const ids = (rows: readonly Record<string, unknown>[]) => rows.map((row) => row["id"]);
  const eq = (field: string, value: unknown) => ({ $eq: [{ $getField: field }, { $literal: value }] });

  beforeAll(async () => {
    project_id = "acme/listed";
    const at = (minute: number) => `2026-03-02T00:0${minute}:00Z`;
    const batch = [
      feedback({ id: "q1", created_at: at(3), payload: { score: 10, tag: { name: "a" } }, creator: "ann" }),
      feedback({
        id: "q2",
        created_at: at(1),
        payload: { score: 9 },
        trigger_ref: "t:v1",
        scorer_tags: ["x"],
      }),
      feedback({ id: "q3", created_at: at(2), payload: { score: "9" }, feedback_type: "other" }),
      feedback({ id: "purged", created_at: at(4) }),
      feedback({ id: "elsewhere", project_id: "acme/elsewhere" }),
    ];
    await test.post("/feedback/batch/create", { batch });
    await test.post("/feedback/purge", { project_id, query: { $expr: eq("id", "purged") } });
  });
  beforeEach(() => {
    project_id = "acme/listed";
  });

  it("lists a project's feedback by time, as it was sent", async () => {
    const [first, ...others] = await list();
    expect(ids(others)).toEqual(["q3", "q1"]);
    expect(first).toEqual({
      id: "q2",
      project_id,
      weave_ref: `weave:///${project_id}/call/1`,
      feedback_type: "custom",
      creator: null,
      wb_user_id: "root",
      created_at: "2026-03-02T00:01:00.000Z",
      payload: { score: 9 },
      annotation_ref: null,
      runnable_ref: null,
      call_ref: null,
      trigger_ref: "t:v1",
      queue_id: null,
      scorer_tags: ["x"],
    });
  });

  it.each([
    [eq("creator", "ann"), ["q1"]],
    [eq("payload.tag.name", "a"), ["q1"]],
    [{ $gte: [{ $getField: "payload.score" }, { $literal: 10 }] }, ["q1"]],
    [{ $gt: [{ $getField: "created_at" }, { $literal: "2026-03-02T00:01:30Z" }] }, ["q3", "q1"]],
    [{ $or: [eq("id", "q1"), eq("trigger_ref", "t:v1"), eq("id", "elsewhere")] }, ["q2", "q1"]],
    [{ $not: [eq("feedback_type", "custom")] }, ["q3"]],
    [eq("trigger_ref", null), ["q3", "q1"]],
  ])("accepts the query %j", async ($expr, expected) => {
    expect(ids(await list({ query: { $expr } }))).toEqual(expected);
  });

  it("sorts, pages, and reports truncation", async () => {
    const sort_by = [
      { field: "feedback_type", direction: "desc" },
      { field: "created_at", direction: "desc" },
    ];
    expect(ids(await list({ sort_by }))).toEqual(["q3", "q1", "q2"]);
    expect(ids(await list({ sort_by, limit: 2 }, true))).toEqual(["q3", "q1"]);
    expect(ids(await list({ sort_by, limit: 2, offset: 2 }))).toEqual(["q2"]);
    expect(await list({ limit: 0 }, true)).toEqual([]);
  });

  it("returns the requested fields, with exact numbers", async () => {
    project_id = "acme/exact";
    const body = JSON.stringify(feedback({ id: "big" })).replace('"score":1', '"n":18446744073709551615');
    await test.post("/feedback/create", body);
    const answer = await test.post("/feedback/query", {
      project_id,
      fields: ["id", "payload", "scorer_tags"],
      query: { $expr: eq("id", "big") },
    });
    expect(answer.text).toBe('{"result":[{"id":"big","payload":{"n":18446744073709551615}}]}');
  });

  it.runIf(isLong)("truncates a response that would be too large, after at least one row", async () => {
    project_id = "acme/large";
    const payload = JSON.stringify({ note: "x".repeat(17 * 1024 * 1024) });
    const rows = ["l1", "l2"].map((id) => ({
      project_id,
      id,
      created_at: "2026-03-01 00:00:00",
      version: 1,
      payload,
    }));
    await test.engine.insert("feedback", rows, { name: "test" });
    expect(ids(await list({ fields: ["id"] }, true))).toEqual(["l1"]);
    expect(ids(await list({ fields: ["id"], offset: 1 }))).toEqual(["l2"]);
  });

  it("rejects unknown fields, with the nearest names", async () => {
    const query = { $expr: eq("payloads.score", 1) };
    const answer = await test.post("/feedback/query", { project_id, query });
    expect(answer.json().detail).toEqual([
      {
        loc: ["body", "query", "$expr", "$eq", 0, "$getField"],
        msg: expect.stringContaining("payload"),
        type: "unknown_field",
      },
    ]);
    for (const more of [
      { fields: ["payload.x"] },
      { sort_by: [{ field: "payload", direction: "asc" }] },
      { limit: 10_001 },
    ]) {
      expect((await test.post("/feedback/query", { project_id, ...more })).status).toBe(422);
    }
  });
});
