import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

const project_id = "acme/reading";

/** The calls of an answer, one a line. */
async function query(
  body: object,
): Promise<{ truncated: unknown; calls: Record<string, unknown>[]; lines: string[] }> {
  const response = await test.post("/calls/stream_query", { project_id, ...body });
  expect([response.status, response.headers["content-type"]]).toEqual([
    200,
    "application/x-ndjson; charset=utf-8",
  ]);
  const lines = response.text.split("\n").slice(0, -1);
  return {
    truncated: response.headers["x-truncated"],
    calls: lines.map((line) => JSON.parse(line) as Record<string, unknown>),
    lines,
  };
}

async function send(project: string, ...calls: object[]): Promise<void> {
  const [entity, name] = project.split("/");
  const batch = calls.map((call) => ({ attributes: {}, inputs: {}, op_name: "op", ...call }));
  const response = await test.post(`/v2/${entity}/${name}/calls/complete`, { batch });
  expect(response.json()).toEqual({ rejected: [] });
}

const idsOf = (calls: readonly Record<string, unknown>[]) => calls.map((call) => call["id"]);

describe("a call read back", () => {
  it("has every member as sent, and computed fields", async () => {
    const sent = {
      id: "whole",
      trace_id: "t-whole",
      parent_id: "somebody",
      op_name: "weave:///acme/reading/op/my-op:abc123",
      display_name: "My call",
      thread_id: "th",
      turn_id: "tu",
      started_at: "2026-01-02T03:04:05.123456Z",
      ended_at: "2026-01-02T03:04:06.623456Z",
      attributes: { weave: { source: "js-sdk" } },
      inputs: { a: [1, { b: null }] },
      output: { text: "Zoë" },
      summary: {
        usage: { "gpt-4o": { requests: 1, prompt_tokens: 1000, completion_tokens: 10 } },
        status_counts: { success: 1 },
      },
      wb_user_id: "u",
      wb_run_id: "r",
      wb_run_step: 3,
    };
    await send(project_id, sent);
    const { calls } = await query({ filter: { call_ids: ["whole"] } });
    expect(calls).toEqual([
      {
        ...sent,
        project_id,
        exception: null,
        deleted_at: null,
        summary: { ...sent.summary, weave: { status: "success", latency_ms: 1500, trace_name: "My call" } },
      },
    ]);
    expect((await test.post("/call/read", { project_id, id: "whole" })).json().call).toEqual(calls[0]);
  });

  it("has its error, and merges computed fields into summary.weave", async () => {
    const times = { started_at: "2026-01-01T00:00:00Z", ended_at: "2026-01-01T00:00:01Z" };
    await send(project_id, {
      id: "failed",
      trace_id: "t-f",
      ...times,
      exception: "boom",
      summary: { weave: { mine: 1, status: "?" } },
    });
    const { calls } = await query({ filter: { call_ids: ["failed"] } });
    expect(calls[0]).toMatchObject({
      exception: "boom",
      summary: { weave: { mine: 1, status: "error", latency_ms: 1000 } },
    });
  });

  it("has costs on request, null without a price", async () => {
    const usage = { requests: 1, prompt_tokens: 1_000_000, completion_tokens: 0 };
    await send(project_id, {
      id: "priced",
      trace_id: "t-p",
      started_at: "2026-01-01T00:00:00Z",
      ended_at: "2026-01-01T00:00:01Z",
      summary: { usage: { "gpt-4o": usage, "no-such-model": usage } },
    });
    const { calls } = await query({ filter: { call_ids: ["priced"] }, include_costs: true });
    const { costs } = (calls[0]!["summary"] as { weave: { costs: Record<string, object> } }).weave;
    expect(costs["gpt-4o"]).toMatchObject({ prompt_tokens: 1_000_000, prompt_tokens_total_cost: 2.5 });
    expect(costs["no-such-model"]).toMatchObject({
      prompt_tokens: 1_000_000,
      prompt_tokens_total_cost: null,
    });
  });
});

describe("POST /calls/stream_query", () => {
  const project = "acme/order";
  beforeAll(async () => {
    const scores = [3, "b", null, 10, undefined, "a", 2.5];
    const calls = scores.map((score, index) => ({
      id: `c${index}`,
      trace_id: `t${index % 3}`,
      started_at: `2026-01-01T00:00:0${6 - index}Z`,
      ended_at: `2026-01-01T00:00:${10 + ((index * 3) % 7)}Z`,
      inputs: { score, text: "x".repeat(index) },
    }));
    await send(project, ...calls);
  });
  const ids = async (body: object) => idsOf((await query({ project_id: project, ...body })).calls);

  it("returns calls oldest first, within limit and offset", async () => {
    expect(await ids({})).toEqual(["c6", "c5", "c4", "c3", "c2", "c1", "c0"]);
    expect(await ids({ limit: 2, offset: 1 })).toEqual(["c5", "c4"]);
    expect(await ids({ limit: 0 })).toEqual([]);
    expect(await ids({ offset: 100 })).toEqual([]);
  });

  it("sets x-truncated if more calls match", async () => {
    expect((await query({ project_id: project, limit: 6 })).truncated).toBe("true");
    expect((await query({ project_id: project, limit: 7 })).truncated).toBe("false");
  });

  it("combines filter and query", async () => {
    const numbers = { $expr: { $gt: [{ $getField: "inputs.score" }, { $literal: 2.6 }] } };
    expect(await ids({ query: numbers })).toEqual(["c3", "c0"]);
    expect(await ids({ query: numbers, filter: { call_ids: ["c0", "c1"] } })).toEqual(["c0"]);
    expect((await test.post("/calls/query_stats", { project_id: project, query: numbers })).json()).toEqual({
      count: 2,
    });
    expect((await test.post("/calls/query_stats", { project_id: project })).json()).toEqual({ count: 7 });
  });

  it("accepts the Weave SDKs' names of user and run", async () => {
    const whose = "acme/whose";
    const at = "2026-01-01T00:00:00Z";
    const times = { started_at: at, ended_at: at };
    const by = (id: string, user: string) => ({
      ...times,
      id,
      trace_id: id,
      wb_user_id: user,
      wb_run_id: `run-${id}`,
    });
    await send(whose, by("a", "u1"), by("b", "u2"));
    const asked = async (filter: object) => idsOf((await query({ project_id: whose, filter })).calls);
    expect(await asked({ wb_user_ids: ["u2"], wb_run_ids: null })).toEqual(["b"]);
    expect(await asked({ wb_user_ids: null, wb_run_ids: ["run-a"] })).toEqual(["a"]);
    expect(await asked({ svc_user_ids: ["u1"], wb_run_ids: ["run-b"] })).toEqual([]);
  });

  it("sorts as requested, absent values last, numbers before text", async () => {
    const sorted = (field: string, direction: string) => ids({ sort_by: [{ field, direction }] });
    expect(await sorted("started_at", "desc")).toEqual(["c0", "c1", "c2", "c3", "c4", "c5", "c6"]);
    expect(await sorted("inputs.score", "asc")).toEqual(["c6", "c0", "c3", "c5", "c1", "c4", "c2"]);
    expect(await sorted("inputs.score", "desc")).toEqual(["c3", "c0", "c6", "c1", "c5", "c4", "c2"]);
    expect(await sorted("summary.weave.latency_ms", "asc")).toEqual(
      ["c0", "c5", "c1", "c3", "c6", "c2", "c4"].sort(byLatency),
    );
    const two = [
      { field: "trace_id", direction: "desc" },
      { field: "id", direction: "desc" },
    ];
    expect(await ids({ sort_by: two })).toEqual(["c5", "c2", "c4", "c1", "c6", "c3", "c0"]);
  });

  it("returns only requested payloads", async () => {
    const { calls } = await query({
      project_id: project,
      columns: ["id", "inputs.score"],
      filter: { call_ids: ["c3"] },
    });
    expect(calls[0]).toMatchObject({
      id: "c3",
      inputs: { score: 10 },
      output: null,
      attributes: {},
      summary: {},
    });
  });

  it("reports every issue", async () => {
    const response = await test.post("/calls/stream_query", {
      project_id: project,
      query: { $expr: { $eq: [{ $getField: "inputz" }, { $literal: 1 }] } },
      sort_by: [
        { field: "sumary", direction: "asc" },
        { field: "input_refs", direction: "asc" },
      ],
      limit: -1,
    });
    expect(response.status).toBe(422);
    const byQuery = await test.post("/calls/stream_query", {
      project_id: project,
      sort_by: [
        { field: "sumary", direction: "asc" },
        { field: "input_refs", direction: "asc" },
      ],
    });
    expect(byQuery.json().detail.map((issue: { loc: unknown }) => issue.loc)).toEqual([
      ["body", "sort_by", 0, "field"],
      ["body", "sort_by", 1, "field"],
    ]);
  });

  function byLatency(a: string, b: string): number {
    const latency = (id: string) => {
      const index = Number(id.slice(1));
      return 10 + ((index * 3) % 7) - (6 - index);
    };
    return latency(a) - latency(b) || (a < b ? -1 : 1);
  }
});
