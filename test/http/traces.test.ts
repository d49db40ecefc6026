import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { materializeAll } from "../helpers/materialize.ts";
import { startApp, startAppOn, type TestApp } from "../helpers/start-app.ts";

const project_id = "acme/list";
const DAY = { start: "2026-01-02T00:00:00Z", end: "2026-01-03T00:00:00Z" };
const HOUR = 3_600_000;

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

function callOf({ id, trace, parent, at, tokens, more = {} }: Draft) {
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
  const answer = await test.post(`/v2/${project}/calls/complete`, { batch: drafts.map(callOf) });
  expect(answer.json(), answer.text).toEqual({ rejected: [] });
}

const query = async (more: object = {}) => {
  const answer = await test.post("/traces/query", { project_id, ...DAY, ...more });
  expect(answer.status, answer.text).toBe(200);
  return answer.json();
};
const idsOf = async (more: object = {}): Promise<string[]> =>
  (await query(more)).traces.map(({ trace_id }: { trace_id: string }) => trace_id);
const contains = (field: string, text: string) => ({
  $expr: {
    $contains: { input: { $getField: field }, substr: { $literal: text }, case_insensitive: true },
  },
});
const equals = (field: string, value: unknown) => ({
  $expr: { $eq: [{ $getField: field }, { $literal: value }] },
});

const DRAFTS: readonly Draft[] = [
  {
    id: "a",
    trace: "ta",
    at: HOUR,
    more: {
      inputs: {
        messages: [
          { role: "user", content: "Hello" },
          { role: "assistant", content: "Yes?" },
          { role: "user", content: "Where is my <b>Parcel</b>?" },
        ],
      },
      output: { choices: [{ message: { role: "assistant", content: "On its way" } }] },
      wb_user_id: "ann",
      thread_id: "th",
    },
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
  { id: "a3", trace: "ta", parent: "a2", at: HOUR + 30, tokens: 200 },
  { id: "b", trace: "tb", at: 2 * HOUR, tokens: 4000, more: { output: { text: "un café\nparcel" } } },
  {
    id: "c",
    trace: "tc",
    at: 3 * HOUR,
    more: {
      ended_at: null,
      summary: { usage: { "no-such-model": { requests: 1, prompt_tokens: 7 } } },
      attributes: { version: "1.4" },
    },
  },
  { id: "d1", trace: "td", parent: "never-came", at: 4 * HOUR, tokens: 2000 },
  { id: "e", trace: "te", at: 24 * HOUR - 5 },
  { id: "e1", trace: "te", parent: "e", at: 24 * HOUR + 5, tokens: 100 },
  { id: "outside", trace: "tf", at: 24 * HOUR, tokens: 100 },
  { id: "f1", trace: "tf", parent: "outside", at: 24 * HOUR - 1, tokens: 100 },
];

beforeAll(async () => {
  await ingest(project_id, DRAFTS);
  for (const [id, payload] of [
    ["a1", { score: 1 }],
    ["a2", { score: 0 }],
    ["a2", { note: "bad" }],
  ] as const) {
    const feedback = {
      project_id,
      weave_ref: `weave:///${project_id}/call/${id}`,
      feedback_type: "eval",
      payload,
    };
    expect((await test.post("/feedback/create", feedback)).status).toBe(200);
  }
});

describe.each(["from calls", "from the usage rollup"])("POST /traces/query, %s", (source) => {
  beforeAll(async () => {
    if (source === "from the usage rollup") expect(await materializeAll(test.engine)).toBeGreaterThan(0);
  });

  it("lists the traces whose root started in the window, newest first, and sums all of them", async () => {
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
      root: {
        id: "a",
        op_name: "answer",
        display_name: null,
        started_at: "2026-01-02T01:00:00.000000Z",
        ended_at: "2026-01-02T01:00:00.500000Z",
        svc_user_id: "ann",
        thread_id: "th",
        exception: null,
        input_preview: "Where is my <b>Parcel</b>?",
        output_preview: "On its way",
      },
      calls: 4,
      failed: 1,
      unfinished: 0,
      total_tokens: 1700,
      total_cost: 0.00425,
      partial: false,
      wasted_cost: 0.00175,
      models: ["gpt-4o"],
      latency_ms: 500,
      feedback: [{ feedback_type: "eval", count: 3, avg: 0.5 }],
    });
    expect(answer.traces[1]).toMatchObject({ root: null, calls: 1, latency_ms: null, total_cost: 0.005 });
    expect(answer.traces[2]).toMatchObject({
      root: { ended_at: null, input_preview: null },
      latency_ms: null,
      unfinished: 1,
      total_cost: null,
      partial: true,
      wasted_cost: 0,
    });
    expect(answer.total).toEqual({
      traces: 5,
      calls: 9,
      failed: 1,
      unfinished: 1,
      total_tokens: 7807,
      total_cost: 0.0195,
      partial: true,
      wasted_cost: 0.00175,
    });
    expect(answer.next_page_token).toBeNull();
  });

  it.each([
    ["total_cost", "desc", ["tb", "td", "ta", "te", "tc"]],
    ["total_cost", "asc", ["te", "ta", "td", "tb", "tc"]],
    ["total_tokens", "desc", ["tb", "td", "ta", "te", "tc"]],
    ["calls", "desc", ["ta", "te", "tb", "tc", "td"]],
    ["failed", "desc", ["ta", "tb", "tc", "td", "te"]],
    ["wasted_cost", "desc", ["ta", "tb", "tc", "td", "te"]],
    ["latency", "desc", ["ta", "tb", "te", "tc", "td"]],
    ["started_at", "asc", ["ta", "tb", "tc", "td", "te"]],
  ])("sorts by %s, %s, and in the same order in pages of any size", async (order_by, direction, expected) => {
    expect(await idsOf({ order_by, direction })).toEqual(expected);
    const paged: string[] = [];
    let page_token: string | null = null;
    do {
      const page = await query({ order_by, direction, limit: 2 + (paged.length % 2), page_token });
      expect(page.total.traces).toBe(5);
      paged.push(...page.traces.map(({ trace_id }: { trace_id: string }) => trace_id));
      page_token = page.next_page_token;
    } while (page_token !== null);
    expect(paged).toEqual(expected);
  });

  it.each([
    [{ any_call: { query: equals("exception", "boom") } }, ["ta"]],
    [{ any_call: { query: equals("exception", "boom"), filter: { svc_user_ids: ["ann"] } } }, []],
    [{ any_call: { filter: { svc_user_ids: ["bob"] } } }, ["ta"]],
    [{ any_call: { filter: { op_names: ["ask"] } } }, ["te", "td", "ta"]],
    [{ any_call: { filter: { call_ids: ["e1"] } } }, ["te"]],
    [{ any_call: { query: contains("inputs", "parcel") } }, ["ta"]],
    [{ any_call: { query: contains("output", "CAFÉ") } }, ["tb"]],
    [{ any_call: { query: contains("output", "no such text") } }, []],
    [{ any_call: {} }, ["te", "td", "tc", "tb", "ta"]],
    [{ filter: {} }, ["te", "td", "tc", "tb", "ta"]],
    [{ filter: { trace_roots_only: true } }, ["te", "tc", "tb", "ta"]],
    [{ filter: { op_names: ["ask"] } }, []],
    [{ filter: { op_names: ["answer"] } }, ["te", "tc", "tb", "ta"]],
    [{ filter: { svc_user_ids: ["bob"] } }, []],
    [{ filter: { trace_ids: ["ta", "tf"] } }, ["ta"]],
    [{ filter: { trace_ids: ["ta", "tf"] }, start: "1970-01-01T00:00:00Z", end: null }, ["tf", "ta"]],
    [{ query: contains("inputs.messages", "Parcel") }, ["ta"]],
    [{ query: equals("attributes.version", "1.4"), any_call: { filter: { op_names: ["answer"] } } }, ["tc"]],
    [{ query: equals("summary.weave.status", "running") }, ["tc"]],
    [{ query: equals("parent_id", null) }, ["te", "tc", "tb", "ta"]],
  ])("finds %j", async (more, expected) => {
    const found = await query(more);
    expect(found.traces.map(({ trace_id }: { trace_id: string }) => trace_id)).toEqual(expected);
    expect(found.total.traces).toBe(expected.length);
    const calls = found.traces.map((trace: { calls: number }) => trace.calls);
    expect(found.total.calls).toBe(calls.reduce((sum: number, count: number) => sum + count, 0));
  });

  it("counts values of fields, each without its own condition", async () => {
    const facetsOf = async (more: object) => {
      const answer = await test.post("/traces/facets", { project_id, ...DAY, ...more });
      expect(answer.status, answer.text).toBe(200);
      return answer.json().facets;
    };
    const value = (name: unknown, traces: number, total_cost: number | null, partial = false) => ({
      value: name,
      traces,
      total_cost,
      partial,
    });
    const fields = ["status", "op_name", "llm", "provider", "svc_user_id", "thread_id", "feedback"];
    expect(await facetsOf({ fields: [...fields, { $getField: "attributes.version" }] })).toEqual([
      {
        field: "status",
        values: [value("success", 3, 0.0145), value(null, 1, 0.005), value("running", 1, null, true)],
        other: 0,
      },
      { field: "op_name", values: [value("answer", 4, 0.0145, true), value(null, 1, 0.005)], other: 0 },
      { field: "llm", values: [value("gpt-4o", 4, 0.0195), value("no-such-model", 1, null, true)], other: 0 },
      { field: "provider", values: [value("openai", 4, 0.0195), value(null, 1, null, true)], other: 0 },
      { field: "svc_user_id", values: [value(null, 4, 0.01525, true), value("ann", 1, 0.00425)], other: 0 },
      { field: "thread_id", values: [value(null, 4, 0.01525, true), value("th", 1, 0.00425)], other: 0 },
      { field: "feedback", values: [value(null, 4, 0.01525, true), value("eval", 1, 0.00425)], other: 0 },
      {
        field: "attributes.version",
        values: [value(null, 4, 0.0195), value("1.4", 1, null, true)],
        other: 0,
      },
    ]);
    const own = await facetsOf({
      fields: ["svc_user_id", "thread_id"],
      filter: { svc_user_ids: ["ann"] },
      query: { $expr: { $and: [equals("svc_user_id", "ann").$expr, equals("thread_id", "nobody").$expr] } },
      limit: 1,
    });
    expect(own).toEqual([
      { field: "svc_user_id", values: [], other: 0 },
      { field: "thread_id", values: [value("th", 1, 0.00425)], other: 0 },
    ]);
  });
});

describe("/traces", () => {
  it.each([
    [
      "/traces/query",
      { any_call: { statuses: ["error"] } },
      ["body", "any_call", "statuses"],
      "Extra inputs",
    ],
    [
      "/traces/query",
      { order_by: "total_costs" },
      ["body", "order_by"],
      "Did you mean total_cost or total_tokens?",
    ],
    ["/traces/query", { limit: 501 }, ["body", "limit"], "500"],
    ["/traces/query", { page_token: "nonsense" }, ["body", "page_token"], "no page token"],
    ["/traces/query", { end: "2026-01-01T00:00:00Z" }, ["body", "end"], "before start"],
    [
      "/traces/query",
      { any_call: { query: equals("user", "bob") } },
      ["body", "any_call", "query", "$expr", "$eq", 0, "$getField"],
      "Unknown field",
    ],
    ["/traces/facets", { fields: ["llms"] }, ["body", "fields", 0], "Did you mean llm?"],
    ["/traces/facets", { fields: ["llm", "llm"] }, ["body", "fields", 1], "twice"],
    [
      "/traces/facets",
      { fields: [{ $getField: "op_nam" }] },
      ["body", "fields", 0, "$getField"],
      "Did you mean op_name?",
    ],
    ["/traces/facets", { fields: [] }, ["body", "fields"], ""],
  ])("%s rejects %j with the place", async (url, more, loc, message) => {
    const answer = await test.post(url, { project_id, ...DAY, ...more });
    expect(answer.status, answer.text).toBe(422);
    expect(answer.json().detail[0].loc).toEqual(loc);
    expect(answer.json().detail[0].msg).toContain(message);
  });

  it("rejects a page token of another question", async () => {
    const { next_page_token: page_token } = await query({ limit: 1, order_by: "total_cost" });
    expect(page_token).toEqual(expect.any(String));
    for (const more of [{ order_by: "calls" }, { direction: "asc" }, { start: "2026-01-01T00:00:00Z" }]) {
      const answer = await test.post("/traces/query", {
        project_id,
        ...DAY,
        limit: 1,
        order_by: "total_cost",
        page_token,
        ...more,
      });
      expect(answer.status).toBe(422);
      expect(answer.text).toContain("another request");
    }
  });

  it("keeps the place of a page while traces come in, also after a restart", async () => {
    const project = "acme/list-pages";
    const open = { project_id: project, start: DAY.start, end: null, limit: 2 };
    const tokens = [5000, 4000, 3000, 2000, 1000];
    await ingest(
      project,
      tokens.map((count, number) => ({
        id: `t${number}`,
        trace: `t${number}`,
        at: number * HOUR,
        tokens: count,
      })),
    );
    const first = await query({ ...open, order_by: "total_cost" });
    await ingest(project, [{ id: "new", trace: "new", at: 0, tokens: 9000 }]);
    await materializeAll(test.engine);
    const again = { ...open, order_by: "total_cost", page_token: first.next_page_token };
    expect(await idsOf(again)).toEqual(["t2", "t3"]);
    const restarted = await startAppOn(test.engine);
    try {
      const answer = await restarted.post("/traces/query", again);
      expect(answer.json().traces.map(({ trace_id }: { trace_id: string }) => trace_id)).toEqual([
        "t2",
        "t3",
      ]);
    } finally {
      await restarted.close();
    }
  });

  it("prices usage as /usage/stats does: fractions of a picodollar, changes of prices, input tiers, units", async () => {
    const project = "acme/list-prices";
    const price = (effective_date: string, prompt_token_cost: number) => ({
      project_id: project,
      costs: { fine: { prompt_token_cost, completion_token_cost: 1e-6, effective_date } },
    });
    for (const [from, cost] of [
      ["2026-01-01T00:00:00Z", 1.23456e-13],
      ["2026-01-02T02:20:00Z", 3e-6],
      ["2026-01-02T05:00:00Z", 7e-9],
    ] as const)
      expect((await test.post("/cost/create", price(from, cost))).status).toBe(200);
    const usages = [
      { fine: { requests: 1, prompt_tokens: 1_000_003, completion_tokens: 7 } },
      { "gemini-2.5-pro": { requests: 1, prompt_tokens: 250_000, completion_tokens: 10 } },
      { "gemini-2.5-pro": { requests: 1, prompt_tokens: 150_000, completion_tokens: 10 } },
      { "gpt-4o": { requests: 2, prompt_tokens: 10, server_tool_use: { web_search_requests: 3 } } },
      { nobody: { requests: 1, prompt_tokens: 10 }, "gpt-4o-mini": { requests: 1, completion_tokens: 10 } },
      {
        "claude-sonnet-4-5": {
          requests: 1,
          prompt_tokens: 5,
          cache_creation_input_tokens: 9_000,
          cache_read_input_tokens: 77,
        },
      },
    ];
    await ingest(
      project,
      Array.from({ length: 18 }, (_, number) => ({
        id: `c${number}`,
        trace: `t${number % 7}`,
        ...(number >= 7 && { parent: `c${number % 7}` }),
        at: number * HOUR * 0.4,
        more: { summary: { usage: usages[number % 6] }, exception: number % 5 === 0 ? "boom" : null },
      })),
    );
    const figuresOf = async () => {
      const window = { project_id: project, ...DAY };
      const stats = await test.post("/usage/stats", {
        ...window,
        group_by: ["trace_id"],
        include_costs: true,
      });
      const { total, groups } = stats.json();
      const list = await query({ ...window, order_by: "total_cost" });
      const costs = groups.map((group: { key: { trace_id: string }; total: { total_cost: number } }) => [
        group.key.trace_id,
        group.total.total_cost,
      ]);
      const listed = list.traces.map((trace: { trace_id: string; total_cost: number }) => [
        trace.trace_id,
        trace.total_cost,
      ]);
      expect(listed).toEqual(costs);
      expect(list.total.total_cost).toBeCloseTo(total.total_cost, 12);
      return list;
    };
    const ofCalls = await figuresOf();
    expect(await materializeAll(test.engine)).toBeGreaterThan(0);
    expect(await figuresOf()).toEqual({ ...ofCalls, next_page_token: null });
  });

  it("omits deleted calls and traces, and goes on without a deleted root", async () => {
    const project = "acme/list-deleted";
    await ingest(project, [
      { id: "a", trace: "ta", at: HOUR, more: { inputs: { text: "parcel" } } },
      { id: "b", trace: "tb", at: HOUR },
      { id: "b1", trace: "tb", parent: "b", at: HOUR, tokens: 100, more: { inputs: { text: "parcel" } } },
    ]);
    const any_call = { query: contains("inputs", "parcel") };
    const found = (): Promise<string[]> => idsOf({ project_id: project, any_call, direction: "asc" });
    expect(await found()).toEqual(["ta", "tb"]);
    await materializeAll(test.engine);
    await test.post("/calls/delete", { project_id: project, call_ids: ["a"] });
    expect(await found()).toEqual(["tb"]);
    await test.post("/calls/delete", { project_id: project, call_ids: ["b"] });
    // the calls below it are deleted too; a late one is not
    expect(await found()).toEqual([]);
    await ingest(project, [{ id: "b2", trace: "tb", parent: "b", at: HOUR, tokens: 100 }]);
    expect((await query({ project_id: project })).traces).toMatchObject([
      { trace_id: "tb", root: null, calls: 1, total_tokens: 100 },
    ]);
  });

  it("keeps projects apart, and the prefix of the Weave SDKs", async () => {
    expect(await idsOf({ project_id: "acme/nothing-here" })).toEqual([]);
    const answer = await test.post("/traces/calls/stream_query", { project_id, limit: 1 });
    expect(answer.status).toBe(200);
  });
});
