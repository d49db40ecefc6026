import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { materializeAll } from "../helpers/materialize.ts";
import { authorization, startApp, type TestResponse, type TestApp } from "../helpers/start-app.ts";

const project_id = "acme/stats";
const JANUARY = { start: "2026-01-01T00:00:00Z", end: "2026-02-01T00:00:00Z" };

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

interface Draft {
  readonly id: string;
  readonly at: string;
  readonly more?: object;
  readonly usage?: object;
}

const gpt = (prompt_tokens: number, completion_tokens = 0) => ({
  "gpt-4o": { requests: 1, prompt_tokens, completion_tokens },
});

function whole({ id, at, usage = gpt(1000, 100), more = {} }: Draft) {
  return {
    id,
    trace_id: `trace-${id}`,
    op_name: "op",
    started_at: at,
    ended_at: new Date(Date.parse(at) + 500).toISOString(),
    inputs: {},
    attributes: {},
    output: null,
    summary: { usage },
    ...more,
  };
}

async function ingest(project: string, drafts: readonly Draft[]): Promise<void> {
  const response = await test.post(`/v2/${project}/calls/complete`, { batch: drafts.map(whole) });
  expect(response.json(), response.text).toEqual({ rejected: [] });
}

const ask = (more: object = {}): Promise<TestResponse> =>
  test.post("/usage/stats", { project_id, ...JANUARY, ...more });

describe("POST /usage/stats", () => {
  beforeAll(() =>
    ingest(project_id, [
      { id: "a", at: "2026-01-02T10:00:00Z", more: { attributes: { tenant: "x" }, wb_user_id: "ann" } },
      { id: "b", at: "2026-01-02T11:00:00Z", more: { attributes: { tenant: 7 }, exception: "boom" } },
      { id: "c", at: "2026-01-03T10:00:00Z", more: { attributes: { tenant: { deep: [1] } } } },
      { id: "d", at: "2026-01-03T11:00:00Z", usage: { "no-such-model": { requests: 2, prompt_tokens: 5 } } },
      { id: "e", at: "2026-01-03T12:00:00Z", usage: {}, more: { ended_at: null } },
      { id: "outside", at: "2026-02-01T00:00:00Z" },
    ]),
  );

  it("groups by scalars, by the JSON text of other values, and by null for absent ones", async () => {
    const response = await ask({ group_by: [{ $getField: "attributes.tenant" }], order_by: "calls" });
    const keys = response.json().groups.map((group: { key: object }) => Object.values(group.key)[0]);
    expect(new Set(keys)).toEqual(new Set(["x", 7, '{"deep":[1]}', null]));
    expect(keys[0]).toBeNull();
  });

  it("charges calls, and lists usage without a price", async () => {
    const { total, unpriced } = (await ask({ include_costs: true })).json();
    expect(total).toMatchObject({
      calls: 5,
      errors: 1,
      requests: 5,
      prompt_tokens: 3005,
      total_cost: 0.0105,
    });
    expect(unpriced).toEqual([
      {
        llm: "no-such-model",
        provider: null,
        service_tier: null,
        requests: 2,
        prompt_tokens: 5,
        completion_tokens: 0,
        total_tokens: 5,
        cache_read_input_tokens: 0,
        cache_creation_input_tokens: 0,
        units: {},
      },
    ]);
    const [group] = (
      await ask({ include_costs: true, group_by: ["llm"], filter: { call_ids: ["d"] } })
    ).json().groups;
    expect(group).toMatchObject({
      key: { llm: "no-such-model" },
      total: { total_cost: null, other_cost: null },
    });
  });

  it("names usage without a price: the LLM, the provider, the tier and the units", async () => {
    const at = "2026-01-02T10:00:00Z";
    const usages = [
      { "gpt-4o": { requests: 1, prompt_tokens: 100, service_tier: "no_such_tier" } },
      { "gpt-4o": { requests: 1, prompt_tokens: 30, service_tier: "no_such_tier" } },
      { "gpt-4o": { requests: 1, prompt_tokens: 10, rerank_searches: 2 } },
      { "llama-of-ours": { requests: 1, prompt_tokens: 5, provider: "groq" } },
      { "llama-of-ours": { requests: 1, prompt_tokens: 3, provider: "our-own-cluster" } },
      { "gpt-4o": { requests: 1, prompt_tokens: 1000 } },
    ];
    const project = "acme/unpriced";
    await ingest(
      project,
      usages.map((usage, number) => ({ id: `u${number}`, at, usage })),
    );
    const body = { project_id: project, ...JANUARY, include_costs: true, group_by: ["provider"] };
    const { unpriced, groups } = (await test.post("/usage/stats", body)).json();
    expect(unpriced).toMatchObject([
      {
        llm: "gpt-4o",
        provider: "openai",
        service_tier: "no_such_tier",
        requests: 2,
        prompt_tokens: 130,
        units: {},
      },
      { llm: "gpt-4o", service_tier: null, requests: 1, prompt_tokens: 0, units: { rerank_searches: 2 } },
      { llm: "llama-of-ours", provider: "groq", service_tier: null, requests: 1, prompt_tokens: 5 },
      { llm: "llama-of-ours", provider: "our-own-cluster", requests: 1, prompt_tokens: 3 },
    ]);
    const byProvider = groups.map(
      ({ key, total }: { key: { provider: string }; total: { calls: number } }) => [
        key.provider,
        total.calls,
      ],
    );
    expect(new Map(byProvider)).toEqual(
      new Map([
        ["openai", 4],
        ["groq", 1],
        ["our-own-cluster", 1],
      ]),
    );
  });

  it("sums the groups beyond the limit into one", async () => {
    const response = (await ask({ group_by: ["trace_id"], limit: 2, granularity: 86_400 })).json();
    expect(response.groups).toHaveLength(2);
    expect(response.other).toMatchObject({ groups: 3, total: { calls: 3 } });
    expect(response.total.calls).toBe(5);
    expect(response.buckets).toHaveLength(31);
  });

  it("computes latencies of calls that have ended", async () => {
    const { total } = (
      await ask({ latency: { aggregations: ["avg", "count"], percentiles: [50, 99.9] } })
    ).json();
    expect(total.latency_ms).toEqual({ avg: 500, count: 4, p50: 500, "p99.9": 500 });
    expect((await ask({ latency: {}, filter: { call_ids: ["e"] } })).json().total.latency_ms).toEqual({
      avg: null,
      max: null,
    });
  });

  it.each([
    ["group_by", { group_by: ["llm", "llm"] }, ["body", "group_by", 1]],
    ["group_by", { group_by: [{ $getField: "attribute.tenant" }] }, ["body", "group_by", 0]],
    ["group_by", { group_by: [{ $getField: "feedback.[x].payload.y" }] }, ["body", "group_by", 0]],
    ["order_by", { order_by: "total_cost" }, ["body", "order_by"]],
    ["timezone", { timezone: "Mars/Olympus" }, ["body", "timezone"]],
    ["end", { end: "2025-12-31T00:00:00Z" }, ["body", "end"]],
    ["limit", { limit: 1001 }, ["body", "limit"]],
    ["group-by", { "group-by": [] }, ["body", "group-by"]],
  ])("rejects an invalid %s", async (_name, more, loc) => {
    const response = await ask(more);
    expect(response.status).toBe(422);
    expect(response.json().detail[0].loc.slice(0, loc.length)).toEqual(loc);
  });

  it("reports all issues at once", async () => {
    const response = await ask({
      end: "2025-12-31T00:00:00Z",
      timezone: "Mars/Olympus",
      group_by: ["llm", "llm", { $getField: "attribute.tenant" }],
      order_by: "total_cost",
      query: { $expr: { $eq: [{ $getField: "nothing" }, 1] } },
      limit: 0,
      surplus: true,
    });
    expect(response.status).toBe(422);
    const locs = response.json().detail.map(({ loc }: { loc: unknown[] }) => loc.slice(1, 3).join("."));
    expect(new Set(locs)).toEqual(
      new Set(["end", "group_by.1", "group_by.2", "limit", "order_by", "query.$expr", "surplus", "timezone"]),
    );
  });

  it("reports no order or window whose members are invalid themselves", async () => {
    const response = await ask({ start: "soon", include_costs: "yes", order_by: "total_cost" });
    expect(response.json().detail.map(({ loc }: { loc: unknown[] }) => loc)).toEqual([
      ["body", "start"],
      ["body", "include_costs"],
    ]);
  });

  const anyCall = { filter: { op_names: ["op"] } };
  it.each<readonly [object, readonly (readonly (string | number)[])[]]>([
    [{ any_call: anyCall }, [["any_call"]]],
    [{ of: null, any_call: {} }, [["any_call"]]],
    [{ of: "traces", group_by: ["op_name", "llm"] }, [["group_by", 1]]],
    [
      { of: "traces", group_by: ["provider", { $getField: "op_name" }, "llm"] },
      [
        ["group_by", 0],
        ["group_by", 2],
      ],
    ],
    [{ of: "trace" }, [["of"]]],
    ...["traces", "traces_failed", "traces_with_failures", "wasted_cost", "cost_per_trace"].map(
      (order_by) => [{ include_costs: true, order_by }, [["order_by"]]] as const,
    ),
    [{ of: "traces", order_by: "cost_per_trace" }, [["order_by"]]],
    [{ of: "traces", order_by: "latency_ms.p95" }, [["order_by"]]],
    [{ of: "traces", any_call: { filter: { op_name: ["op"] } } }, [["any_call", "filter", "op_name"]]],
    [
      { of: "traces", any_call: { query: { $expr: { $eq: [{ $getField: "nothing" }, { $literal: 1 }] } } } },
      [["any_call", "query", "$expr", "$eq", 0, "$getField"]],
    ],
  ])("rejects %o", async (more, locs) => {
    const response = await ask(more);
    expect(response.status, response.text).toBe(422);
    const found = response.json().detail.map(({ loc }: { loc: unknown[] }) => loc);
    expect(found).toEqual(locs.map((loc) => ["body", ...loc]));
  });

  it("has no buckets, groups or numbers for an empty window", async () => {
    const response = (await ask({ end: JANUARY.start })).json();
    expect(response).toMatchObject({
      groups: [],
      other: null,
      buckets: [],
      total: { calls: 0, total_tokens: 0 },
    });
  });

  it("returns CSV if requested, with a line per group and no formulas", async () => {
    await ingest("acme/csv", [
      { id: "x", at: "2026-01-02T10:00:00Z", more: { attributes: { tenant: '=1+"2",\n3' } } },
      { id: "y", at: "2026-01-02T11:00:00Z", more: { attributes: { tenant: "-9" } } },
      { id: "z", at: "2026-01-03T11:00:00Z" },
      { id: "empty", at: "2026-01-04T11:00:00Z", more: { attributes: { tenant: "" } } },
    ]);
    const body = {
      project_id: "acme/csv",
      ...JANUARY,
      granularity: 86_400,
      group_by: [{ $getField: "attributes.tenant" }],
      include_costs: true,
      limit: 3,
    };
    const response = await test.app.inject({
      method: "POST",
      url: "/usage/stats",
      headers: { authorization: authorization(), accept: "text/csv, application/json;q=0.5" },
      payload: body,
    });
    expect(response.headers["content-type"]).toBe("text/csv; charset=utf-8; header=present");
    const [head, ...lines] = parse(response.body);
    expect(head!.slice(0, 6)).toEqual([
      "timestamp",
      "group",
      "attributes.tenant",
      "calls",
      "errors",
      "requests",
    ]);
    expect(lines.map((line) => line.slice(0, 4))).toEqual([
      ["2026-01-02T00:00:00.000Z", "2", "'-9", "1"],
      ["2026-01-02T00:00:00.000Z", "3", '\'=1+"2",\n3', "1"],
      ["2026-01-03T00:00:00.000Z", "other", "", "1"],
      ["2026-01-04T00:00:00.000Z", "1", "", "1"],
    ]);
    expect(response.body).toContain('\r\n2026-01-04T00:00:00.000Z,1,"",1,');
    expect(response.body).toContain("\r\n2026-01-03T00:00:00.000Z,other,,1,");
    expect(response.body.split("\r\n").at(-1)).toBe("");
    const json = (await test.post("/usage/stats", body)).json();
    const sum = lines.reduce(
      (total, line) => total + Math.round(Number(line[head!.indexOf("total_cost")]) * 1e12),
      0,
    );
    expect(sum).toBe(Math.round(json.total.total_cost * 1e12));
  });
});

describe("POST /usage/stats of traces", () => {
  const body = { project_id: "acme/by-trace", ...JANUARY, of: "traces", include_costs: true };
  const asked = async (more: object) => {
    const response = await test.post("/usage/stats", { ...body, ...more });
    expect(response.status, response.text).toBe(200);
    return response.json();
  };
  const under = (id: string, parent_id: string) => ({
    trace_id: `trace-${parent_id}`,
    parent_id,
    op_name: id,
  });

  beforeAll(() =>
    ingest("acme/by-trace", [
      { id: "r", at: "2026-01-02T23:00:00Z", usage: {}, more: { wb_user_id: "ann", op_name: "chat" } },
      // of another day, and of nobody
      { id: "s", at: "2026-01-03T01:00:00Z", more: { ...under("s", "r"), exception: "boom" } },
      { id: "t", at: "2026-01-03T02:00:00Z", more: { ...under("t", "r") } },
      {
        id: "u",
        at: "2026-01-03T03:00:00Z",
        usage: gpt(10),
        more: { wb_user_id: "ben", op_name: "chat", exception: "boom" },
      },
      { id: "v", at: "2026-01-04T03:00:00Z", usage: { "no-such-model": { requests: 1, prompt_tokens: 7 } } },
      { id: "w", at: "2026-01-05T03:00:00Z", usage: {}, more: { ...under("w", "gone"), wb_user_id: "ann" } },
    ]),
  );

  it("sums whole traces by their roots, before and after they are in the rollup", async () => {
    for (const isMaterialized of [false, true]) {
      if (isMaterialized) await materializeAll(test.engine);
      const { groups, total, buckets, unpriced } = await asked({
        group_by: ["svc_user_id"],
        granularity: 86_400,
        end: "2026-01-06T00:00:00Z",
        latency: {},
      });
      expect(groups).toMatchObject([
        {
          key: { svc_user_id: "ann" },
          total: {
            calls: 3,
            errors: 1,
            requests: 2,
            traces: 1,
            traces_failed: 0,
            traces_with_failures: 1,
            total_cost: 0.007,
            wasted_cost: 0.0035,
            cost_per_trace: 0.007,
            partial: false,
            latency_ms: { avg: 500, max: 500 },
          },
        },
        {
          key: { svc_user_id: "ben" },
          total: {
            traces: 1,
            traces_failed: 1,
            traces_with_failures: 1,
            total_cost: 0.000025,
            wasted_cost: 0.000025,
          },
        },
        // without a price, and without a root
        {
          key: { svc_user_id: null },
          total: { traces: 2, calls: 2, total_cost: null, cost_per_trace: null },
        },
      ]);
      expect(total).toMatchObject({ traces: 4, calls: 6, total_cost: 0.007025, partial: true });
      const list = await test.post("/traces/query", { project_id: body.project_id, ...JANUARY });
      expect(list.json().total).toMatchObject({ traces: 4, calls: 6, failed: 2, total_cost: 0.007025 });
      const days = buckets.map((bucket: { total: { traces: number } }) => bucket.total.traces);
      expect(days).toEqual([0, 1, 1, 1, 1]);
      expect(unpriced).toMatchObject([{ llm: "no-such-model", requests: 1, prompt_tokens: 7 }]);
    }
  });

  it.each([
    ["traces", null],
    ["traces_failed", "ben"],
    ["wasted_cost", "ann"],
    ["cost_per_trace", "ann"],
  ])("orders groups by %s", async (order_by, first) => {
    const { groups } = await asked({ group_by: ["svc_user_id"], order_by });
    expect(groups[0].key).toEqual({ svc_user_id: first });
  });

  it.each([
    [{ any_call: { filter: { op_names: ["t"] } } }, 1],
    // no condition on the root matches a trace without one
    [{ any_call: {}, filter: { trace_roots_only: true } }, 3],
    [{ filter: { trace_ids: ["trace-gone", "trace-u"] } }, 1],
    [{ filter: { trace_ids: ["trace-u"] }, start: "2026-01-04T00:00:00Z" }, 0],
    [{ end: JANUARY.start }, 0],
    [{ any_call: null, filter: null, query: null }, 4],
  ])("selects traces as /traces/query does: %o", async (more, traces) => {
    const { total } = await asked(more);
    expect(total.traces).toBe(traces);
    const list = await test.post("/traces/query", {
      project_id: body.project_id,
      ...JANUARY,
      ...more,
    });
    expect(list.json().total.traces, list.text).toBe(traces);
  });

  it("prints the members of traces as CSV", async () => {
    const response = await test.app.inject({
      method: "POST",
      url: "/usage/stats",
      headers: { authorization: authorization(), accept: "text/csv" },
      payload: {
        ...body,
        group_by: ["svc_user_id"],
        filter: { op_names: ["chat"] },
        order_by: "cost_per_trace",
      },
    });
    const lines = parse<Record<string, string>>(response.body, { columns: true });
    expect(lines).toMatchObject([
      {
        svc_user_id: "ann",
        traces: "1",
        traces_failed: "0",
        traces_with_failures: "1",
        wasted_cost: "0.0035",
      },
      { svc_user_id: "ben", traces: "1", traces_failed: "1", cost_per_trace: "0.000025" },
    ]);
  });
});
