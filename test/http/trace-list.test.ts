import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../helpers/start-app.ts";

const project_id = "acme/list";
const DAY = { start: "2026-01-02T00:00:00Z", end: "2026-01-03T00:00:00Z" };

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

interface Draft {
  readonly id: string;
  readonly trace: string;
  readonly parent?: string;
  /** Milliseconds of the day. */
  readonly at: number;
  readonly tokens?: number;
  readonly more?: object;
}

function whole({ id, trace, parent, at, tokens, more = {} }: Draft) {
  const started = Date.parse(DAY.start) + at;
  const usage = { "gpt-4o": { requests: 1, prompt_tokens: tokens ?? 0 } };
  return {
    id,
    trace_id: trace,
    parent_id: parent ?? null,
    op_name: parent === undefined ? "answer" : "ask",
    started_at: new Date(started).toISOString(),
    ended_at: new Date(started + 500).toISOString(),
    inputs: {},
    attributes: {},
    output: null,
    summary: tokens === undefined ? {} : { usage },
    ...more,
  };
}

async function ingest(project: string, drafts: readonly Draft[]): Promise<void> {
  const answer = await test.post(`/v2/${project}/calls/complete`, { batch: drafts.map(whole) });
  expect(answer.json(), answer.text).toEqual({ rejected: [] });
}

const query = async (more: object = {}) => {
  const answer = await test.post("/trace/query", { project_id, ...DAY, include_costs: true, ...more });
  expect(answer.status, answer.text).toBe(200);
  return answer.json();
};
const idsOf = async (more: object = {}): Promise<string[]> =>
  (await query(more)).traces.map(({ trace_id }: { trace_id: string }) => trace_id);

const HOUR = 3_600_000;
const escaped = JSON.stringify({ text: "un café\nparcel" }).replace("é", "\\u00e9");

describe("POST /trace/query", () => {
  beforeAll(() =>
    ingest(project_id, [
      {
        id: "a",
        trace: "ta",
        at: HOUR,
        more: { inputs: { text: "Where is my Parcel?" }, wb_user_id: "ann" },
      },
      { id: "a1", trace: "ta", parent: "a", at: HOUR + 10, tokens: 1000 },
      {
        id: "a2",
        trace: "ta",
        parent: "a",
        at: HOUR + 20,
        tokens: 500,
        more: { exception: "boom", wb_user_id: "bob" },
      },
      { id: "b", trace: "tb", at: 2 * HOUR, tokens: 4000, more: { output: { text: escaped } } },
      {
        id: "c",
        trace: "tc",
        at: 3 * HOUR,
        more: {
          ended_at: null,
          summary: { usage: { "no-such-model": { requests: 1, prompt_tokens: 7 } } },
          inputs: { text: 'ÉCOLE "été" <b>' },
        },
      },
      { id: "d1", trace: "td", parent: "never-came", at: 4 * HOUR, tokens: 2000 },
      { id: "e", trace: "te", at: 24 * HOUR - 5 },
      { id: "e1", trace: "te", parent: "e", at: 24 * HOUR + 5, tokens: 100 },
      { id: "outside", trace: "tf", at: 24 * HOUR, tokens: 100 },
      { id: "f1", trace: "tf", parent: "outside", at: 24 * HOUR - 1, tokens: 100 },
    ]),
  );

  it("lists the traces whose root started in the window, newest first, with their totals", async () => {
    const answer = await query();
    expect(answer.traces.map(({ trace_id }: { trace_id: string }) => trace_id)).toEqual([
      "te",
      "td",
      "tc",
      "tb",
      "ta",
    ]);
    expect(answer.traces.at(-1)).toEqual({
      trace_id: "ta",
      call_id: "a",
      has_root: true,
      roots: 1,
      op_name: "answer",
      display_name: null,
      started_at: "2026-01-02T01:00:00.000000Z",
      ended_at: "2026-01-02T01:00:00.500000Z",
      latency_ms: 500,
      status: "success",
      exception: null,
      thread_id: null,
      svc_user_id: "ann",
      svc_user_ids: ["ann", "bob"],
      inputs_start: '{"text":"Where is my Parcel?"}',
      unfinished: 0,
      models: ["gpt-4o"],
      total: expect.objectContaining({
        calls: 3,
        errors: 1,
        prompt_tokens: 1500,
        total_cost: 0.00375,
        other_cost: 0,
      }),
      failed: expect.objectContaining({ calls: 1, errors: 1, prompt_tokens: 500, total_cost: 0.00125 }),
      unpriced: [],
    });
    expect(answer.traces[1]).toMatchObject({ call_id: "d1", has_root: false, roots: 0, total: { calls: 1 } });
    expect(answer.traces[2]).toMatchObject({
      ended_at: null,
      latency_ms: null,
      status: "running",
      unfinished: 1,
      total: { total_cost: null },
      unpriced: [{ llm: "no-such-model", provider: null, service_tier: null }],
    });
    expect(answer.total).toMatchObject({
      traces: 5,
      failed_traces: 1,
      unfinished_traces: 1,
      total: { calls: 8, errors: 1, prompt_tokens: 7607, total_cost: 0.019 },
      unpriced: [{ llm: "no-such-model" }],
    });
    expect(answer.next_page_token).toBeNull();
  });

  it.each([
    ["total_cost", "desc", ["tb", "td", "ta", "te", "tc"]],
    ["total_cost", "asc", ["te", "ta", "td", "tb", "tc"]],
    ["total_tokens", "desc", ["tb", "td", "ta", "te", "tc"]],
    ["calls", "desc", ["ta", "te", "td", "tc", "tb"]],
    ["errors", "desc", ["ta", "te", "td", "tc", "tb"]],
    ["latency_ms", "desc", ["te", "td", "tb", "ta", "tc"]],
    ["started_at", "asc", ["ta", "tb", "tc", "td", "te"]],
  ])("sorts by %s, %s, and in the same order in pages", async (order_by, direction, expected) => {
    expect(await idsOf({ order_by, direction })).toEqual(expected);
    for (const include_total of order_by === "started_at" ? [true, false] : [false]) {
      const paged: string[] = [];
      let page_token: string | null = null;
      do {
        const page = await query({ order_by, direction, limit: 2, page_token, include_total });
        expect(page.total === null).toBe(!include_total);
        paged.push(...page.traces.map(({ trace_id }: { trace_id: string }) => trace_id));
        page_token = page.next_page_token;
      } while (page_token !== null);
      expect(paged).toEqual(expected);
    }
  });

  it.each([
    [{ any: [{ status: ["error"] }] }, ["ta"]],
    [{ any: [{ status: ["running"] }] }, ["tc"]],
    [{ any: [{ status: ["error"], svc_user_ids: ["ann"] }] }, []],
    [{ any: [{ status: ["error"] }, { svc_user_ids: ["ann"] }] }, ["ta"]],
    [{ any: [{ models: ["no-such-model"] }] }, ["tc"]],
    [{ any: [{ models: ["gpt-4o"], total_tokens: { gte: 4000 } }] }, ["tb"]],
    [{ any: [{ op_names: ["ask"], latency_ms: { gt: 499, lt: 501 } }] }, ["te", "td", "ta"]],
    [{ any: [{ query: { $expr: { $eq: [{ $getField: "exception" }, { $literal: "boom" }] } } }] }, ["ta"]],
    [{ any: [{ text: "parcel" }] }, ["tb", "ta"]],
    [{ any: [{ text: "café parcel" }] }, ["tb"]],
    [{ any: [{ text: "CAFÉ" }] }, ["tb"]],
    [{ any: [{ text: 'école "ÉTÉ" <b>' }] }, ["tc"]],
    [{ any: [{ text: "no such text" }] }, []],
    [{ any: [{ text: "parcel", status: ["error"] }] }, []],
    [{ any: [{ text: "parcel" }, { status: ["error"] }] }, ["ta"]],
    [{ any: [] }, ["te", "td", "tc", "tb", "ta"]],
    [{ any: [{}] }, ["te", "td", "tc", "tb", "ta"]],
    [{ filter: { op_names: ["ask"] } }, ["td"]],
    [{ filter: { trace_ids: ["ta", "tf"] } }, ["ta"]],
    [{ filter: { trace_ids: ["ta", "tf"] }, start: "1970-01-01T00:00:00Z", end: null }, ["tf", "ta"]],
    [
      {
        query: {
          $expr: { $contains: { input: { $getField: "inputs.text" }, substr: { $literal: "Parcel" } } },
        },
      },
      ["ta"],
    ],
    [{ query: { $expr: { $eq: [{ $getField: "svc_user_id" }, { $literal: "bob" }] } } }, []],
    [{ totals: { total_cost: { gt: 0.004 } } }, ["td", "tb"]],
    [{ totals: { unfinished: { gte: 1 } } }, ["tc"]],
    [{ totals: { latency_ms: { gt: 11_000 } } }, []],
  ])("finds %j", async (more, expected) => {
    const [whole, rows] = [await query(more), await idsOf({ ...more, include_total: false })];
    expect(whole.traces.map(({ trace_id }: { trace_id: string }) => trace_id)).toEqual(expected);
    expect(rows).toEqual(expected);
    expect(whole.total.traces).toBe(expected.length);
    const calls = whole.traces.map(({ total }: { total: { calls: number } }) => total.calls);
    expect(whole.total.total.calls).toBe(calls.reduce((sum: number, count: number) => sum + count, 0));
  });

  it.each([
    [{ any: [{ statuses: ["error"] }] }, ["body", "any", 0, "statuses"], "Did you mean status?"],
    [{ any: [{ status: ["eror"] }] }, ["body", "any", 0, "status", 0], "Did you mean error?"],
    [{ order_by: "total_costs" }, ["body", "order_by"], "Did you mean total_cost or total_tokens?"],
    [{ group_by: "op_nam" }, ["body", "group_by"], "Did you mean op_name?"],
    [{ group_by: { $getField: "op_nam" } }, ["body", "group_by", "$getField"], "Did you mean op_name?"],
    [{ totals: { call: {} } }, ["body", "totals", "call"], "Did you mean calls?"],
    [{ order_by: "total_cost", include_costs: false }, ["body", "order_by"], "Costs need include_costs"],
    [{ page_token: "nonsense" }, ["body", "page_token"], "no token"],
    [
      { any: [{ query: { $expr: { $eq: [{ $getField: "user" }, { $literal: "bob" }] } } }] },
      ["body", "any", 0, "query", "$expr", "$eq", 0, "$getField"],
      "Unknown field",
    ],
  ])("rejects %j, with the supported values", async (more, loc, message) => {
    const answer = await test.post("/trace/query", { project_id, ...DAY, include_costs: true, ...more });
    expect(answer.status, answer.text).toBe(422);
    expect(answer.json().detail[0].loc).toEqual(loc);
    expect(answer.json().detail[0].msg).toContain(message);
  });

  it.each(["op_name", { $getField: "op_name" }])("sums whole traces by their roots: %j", async (group_by) => {
    const { total } = await query({ group_by, limit: 1 });
    expect(total.groups).toMatchObject({
      values: [
        { value: "answer", traces: 4, total: { calls: 7, errors: 1, total_cost: 0.014 } },
        { value: "ask", traces: 1, total: { calls: 1, total_cost: 0.005 } },
      ],
      other: null,
    });
    const matching = await query({ group_by, totals: { unfinished: { gte: 1 } } });
    expect(matching.total.groups.values).toMatchObject([
      { value: "answer", traces: 1, total: { total_cost: null } },
    ]);
    expect((await query()).total.groups).toBeNull();
  });

  it("omits deleted calls and traces, also in searches", async () => {
    const project = "acme/list-deleted";
    await ingest(project, [
      { id: "a", trace: "ta", at: HOUR, more: { inputs: { text: "parcel" } } },
      { id: "b", trace: "tb", at: HOUR },
      { id: "b1", trace: "tb", parent: "b", at: HOUR, more: { inputs: { text: "parcel" } } },
    ]);
    const found = async (): Promise<unknown> =>
      idsOf({ project_id: project, any: [{ text: "parcel" }], direction: "asc" });
    expect(await found()).toEqual(["ta", "tb"]);
    await test.post("/calls/delete", { project_id: project, call_ids: ["b1"] });
    expect(await found()).toEqual(["ta"]);
    await test.post("/calls/delete", { project_id: project, call_ids: ["a"] });
    expect(await found()).toEqual([]);
    expect(await idsOf({ project_id: project })).toEqual(["tb"]);
  });
});

describe("POST /trace/facets", () => {
  const project = "acme/facets";
  const facetsOf = async (more: object) => {
    const answer = await test.post("/trace/facets", { project_id: project, ...DAY, ...more });
    expect(answer.status, answer.text).toBe(200);
    return answer.json();
  };
  const versions = (version: unknown, tags: unknown) => ({ attributes: { version, tags } });

  beforeAll(() =>
    ingest(project, [
      { id: "a", trace: "ta", at: HOUR, more: { ...versions("1.0", ["x", "y"]), wb_user_id: "Ann/A" } },
      {
        id: "a1",
        trace: "ta",
        parent: "a",
        at: HOUR,
        tokens: 5,
        more: { exception: "boom", wb_user_id: "bob" },
      },
      { id: "b", trace: "tb", at: HOUR, tokens: 5, more: { ...versions("1.0", []), wb_user_id: "bob" } },
      { id: "c", trace: "tc", at: HOUR, more: { ...versions(2, "x"), ended_at: null } },
      { id: "d1", trace: "td", parent: "never-came", at: HOUR },
      { id: "e", trace: "te", at: 25 * HOUR },
    ]),
  );

  it("counts traces by the values of their roots and of any call", async () => {
    const answer = await facetsOf({
      facets: [
        "status",
        "failed",
        "op_name",
        "any_op_name",
        "model",
        "svc_user_id",
        { $getField: "attributes.version" },
        { $getField: "attributes.tags" },
      ],
    });
    expect(answer.traces).toBe(4);
    const none = { values: 0, traces: 0 };
    const facet = (name: string, ...values: (readonly [unknown, number])[]) => ({
      facet: name,
      values: values.map(([value, traces]) => ({ value, traces })),
      other: none,
    });
    expect(answer.facets).toEqual([
      facet("status", ["success", 3], ["running", 1]),
      facet("failed", [false, 3], [true, 1]),
      facet("op_name", ["answer", 3], ["ask", 1]),
      facet("any_op_name", ["answer", 3], ["ask", 2]),
      facet("model", [null, 2], ["gpt-4o", 2]),
      facet("svc_user_id", [null, 2], ["bob", 2], ["Ann/A", 1]),
      facet("attributes.version", ["1.0", 2], [null, 1], [2, 1]),
      facet("attributes.tags", ["x", 2], [null, 1], ["y", 1]),
    ]);
  });

  it("applies conditions, reports truncated lists, and completes names", async () => {
    expect(await facetsOf({ any: [{ status: ["error"] }], facets: ["svc_user_id"], limit: 1 })).toMatchObject(
      {
        traces: 1,
        facets: [{ values: [{ value: "Ann/A", traces: 1 }], other: { values: 1, traces: 1 } }],
      },
    );
    expect(await facetsOf({ facets: ["svc_user_id", "model"], contains: "N/a" })).toMatchObject({
      traces: 4,
      facets: [
        { values: [{ value: "Ann/A", traces: 1 }], other: { values: 0 } },
        { values: [], other: { values: 0 } },
      ],
    });
  });

  it("rejects an unknown facet, with the nearest names", async () => {
    const facets = ["modl", { $getField: "atributes.version" }, "status", "status"];
    const answer = await test.post("/trace/facets", { project_id: project, ...DAY, facets });
    expect(answer.status).toBe(422);
    expect(answer.text).toContain("Did you mean model?");
  });
});
