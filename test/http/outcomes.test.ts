import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { completeEvent } from "../../src/calls/events/call-event.ts";
import { createStorageKeyLookup } from "../../src/calls/storage-key/key-lookup.ts";
import { createCallWriter } from "../../src/calls/write/call-writer.ts";
import { FairSemaphore } from "../../src/fairness/fair-semaphore.ts";
import type { Project } from "../../src/shared/project.ts";
import { materializeAll } from "../helpers/materialize.ts";
import { authorization, startApp, startAppOn, type TestApp } from "../helpers/start-app.ts";

const project_id = "acme/outcomes" as Project;
const WINDOW = { start: "2026-03-01", end: "2026-03-02" };
const outcome = { feedback_type: "score", json_path: "score", op: "$gte", value: 0.5 };

const statements: string[] = [];
let test: TestApp;
beforeAll(async () => {
  test = await startApp({
    wrapEngine: (engine) => ({
      ...engine,
      rows(query, options) {
        statements.push(options.name);
        return engine.rows(query, options);
      },
      bytes(query, format, options) {
        statements.push(options.name);
        return engine.bytes(query, format, options);
      },
    }),
  });
  const llms = ["gpt-4o", "gpt-4o", "claude-sonnet-4-5", "our-own-model", null];
  const batch = llms.map((llm, number) => ({
    id: `c${number}`,
    trace_id: `t${number}`,
    op_name: `op-${number}`,
    thread_id: `thread-${number % 2}`,
    started_at: `2026-03-01T0${number}:00:00Z`,
    ended_at: `2026-03-01T0${number}:00:01Z`,
    inputs: {},
    attributes: {},
    summary: llm === null ? {} : { usage: { [llm]: { requests: 1, prompt_tokens: 1000 * (number + 1) } } },
  }));
  expect((await test.post(`/v2/${project_id}/calls/complete`, { batch })).json()).toEqual({ rejected: [] });
  for (const [number, score] of [0.9, 0.1, 0.6, 1, 1].entries()) await rate(`c${number}`, score);
});
afterAll(() => test.close());

async function rate(id: string, score: number, project = project_id): Promise<void> {
  const weave_ref = `weave:///${project}/call/${id}`;
  const feedback = { project_id: project, weave_ref, feedback_type: "score", payload: { score } };
  expect((await test.post("/feedback/create", feedback)).status).toBe(200);
}

async function ask(more: object) {
  const response = await test.post("/usage/stats", { project_id, ...WINDOW, ...more });
  expect(response.status, response.text).toBe(200);
  return response.json();
}

describe("outcomes of /usage/stats", () => {
  it("need no costs, and then have none", async () => {
    const { total } = await ask({ outcome });
    expect(total).toMatchObject({ calls: 5, rated: 5, passed: 4 });
    expect(total).not.toHaveProperty("cost_per_passed");
  });

  it("are absent without being asked for, and cost no statement", async () => {
    statements.length = 0;
    const { total } = await ask({ include_costs: true, outcome: null });
    expect(Object.keys(total as object)).not.toContain("rated");
    expect(statements).not.toContain("usage_rated");
    await ask({ outcome });
    expect(statements.filter((name) => name === "usage_rated")).toHaveLength(1);
  });

  it("cost null if no rated call has a price, and 0 if they used nothing", async () => {
    const { groups } = await ask({ include_costs: true, outcome, group_by: ["llm"] });
    const byLlm = (groups as { key: { llm: string }; total: { cost_per_passed: unknown } }[]).map(
      ({ key, total }) => [key.llm, total.cost_per_passed],
    );
    // two rated calls of 1,000 and 2,000 tokens, of which one passed
    expect(Object.fromEntries(byLlm)).toEqual({
      "gpt-4o": 0.0075,
      "claude-sonnet-4-5": 0.009,
      "our-own-model": null,
      null: 0,
    });
  });

  it("order the groups, unknown ones last", async () => {
    const order = async (order_by: string) =>
      (await ask({ include_costs: true, outcome, group_by: ["llm"], order_by })).groups.map(
        ({ key }: { key: { llm: string | null } }) => key.llm,
      );
    expect(await order("cost_per_passed")).toEqual(["claude-sonnet-4-5", "gpt-4o", null, "our-own-model"]);
    expect((await order("rated"))[0]).toBe("gpt-4o");
  });

  it("are the last columns of CSV before the latencies", async () => {
    const response = await test.app.inject({
      method: "POST",
      url: "/usage/stats",
      headers: { authorization: authorization(), accept: "text/csv" },
      payload: {
        project_id,
        ...WINDOW,
        include_costs: true,
        outcome,
        latency: { aggregations: ["max"] },
        granularity: 86_400,
      },
    });
    const [head, line, ...more] = response.body.trimEnd().split("\r\n");
    expect(head).toMatch(/,rated,passed,cost_per_passed,latency_ms_max$/);
    expect(line).toMatch(/,5,4,0.004125,1000$/);
    expect(more).toEqual([]);
  });

  it("give a call whose usage another one counts no cost of its own", async () => {
    const project = "acme/superseded" as Project;
    const writer = createCallWriter(
      { engine: test.engine, lookup: createStorageKeyLookup(test.engine) },
      { lingerMs: 0, pending: new FairSemaphore({ capacity: 1e9 }) },
    );
    for (const [number, usageSource] of (["client", "gateway"] as const).entries()) {
      const startedAt = Date.UTC(2026, 2, 1, number) * 1000;
      const summary = { usage: { "gpt-4o": { requests: 1, prompt_tokens: 1000 } } };
      const reports = [{ request: "request-1", rank: number }];
      const named = { id: `r${number}`, traceId: `t${number}`, opName: "op", startedAt };
      await writer.write(project, [
        completeEvent(named, { id: named.id, endedAt: startedAt + 1, summary, usageSource, reports }),
      ]);
    }
    await rate("r0", 1, project);
    const before = (await ask({ project_id: project, include_costs: true, outcome })).total;
    expect(before).toMatchObject({ calls: 2, total_cost: 0.0025, rated: 1, passed: 1, cost_per_passed: 0 });
    await rate("r1", 1, project);
    const after = (await ask({ project_id: project, include_costs: true, outcome })).total;
    expect(after).toMatchObject({ total_cost: 0.0025, rated: 2, passed: 2, cost_per_passed: 0.00125 });
  });

  it("count the same calls as feedback by the same groups", async () => {
    const metrics = [{ json_path: "good", value_type: "boolean" }];
    const project = "acme/same-counts";
    const batch = Array.from({ length: 40 }, (_, number) => ({
      id: `c${number}`,
      trace_id: `t${number}`,
      op_name: `op-${number % 3}`,
      thread_id: number % 4 === 0 ? null : `thread-${number % 4}`,
      started_at: "2026-03-01T01:00:00Z",
      ended_at: "2026-03-01T01:00:01Z",
      inputs: {},
      attributes: { tenant: number % 5 },
      summary: {
        usage:
          number % 7 === 0
            ? {}
            : { [["gpt-4o", "claude-sonnet-4-5", "x"][number % 3]!]: { prompt_tokens: 5 } },
      },
    }));
    await test.post(`/v2/${project}/calls/complete`, { batch });
    const feedback = batch.slice(10).map(({ id }, number) => ({
      project_id: project,
      weave_ref: `weave:///${project}/call/${id}`,
      feedback_type: "verdict",
      payload: { good: number % 3 > 0 },
      created_at: "2026-03-01T02:00:00Z",
    }));
    expect((await test.post("/feedback/batch/create", { batch: feedback })).json().rejected).toEqual([]);
    for (const group_by of [
      ["llm"],
      ["provider", "op_name"],
      ["thread_id"],
      [{ $getField: "attributes.tenant" }, "llm"],
    ]) {
      const asked = { project_id: project, group_by };
      const ratings = (await test.post("/feedback/stats", { ...asked, ...WINDOW, metrics })).json();
      const counts = (
        ratings.groups as { key: object; count: number; window_stats: { good: { count_true: number } } }[]
      ).map(({ key, count, window_stats }) => [key, count, window_stats.good.count_true]);
      const passes = { outcome: { json_path: "good", op: "$eq", value: true } };
      const { groups } = await ask({ ...asked, ...passes });
      const outcomes = (groups as { key: object; total: { rated: number; passed: number } }[])
        .filter(({ total }) => total.rated > 0)
        .map(({ key, total }) => [key, total.rated, total.passed]);
      expect(new Set(outcomes.map((one) => JSON.stringify(one)))).toEqual(
        new Set(counts.map((one) => JSON.stringify(one))),
      );
    }
  });

  it("read at most the calls that a response may read", async () => {
    await materializeAll(test.engine);
    const small = await startAppOn(test.engine, { settings: { MAX_STATS_CALLS: "4" } });
    const asked = { project_id, ...WINDOW };
    expect((await small.post("/usage/stats", asked)).status).toBe(200);
    for (const of of ["calls", "traces"]) {
      const response = await small.post("/usage/stats", { ...asked, of, outcome });
      expect(response.status).toBe(413);
      expect(response.json().detail).toMatch(/^More than 4 of the selected calls are rated/);
      const fewer = { ...asked, of, outcome, filter: { thread_ids: ["thread-0"] } };
      expect((await small.post("/usage/stats", fewer)).json().total).toMatchObject({ rated: 3, passed: 3 });
    }
    await small.close();
  });

  it.each([
    ["an unknown operator", { outcome: { ...outcome, op: "$ne" } }, ["outcome", "op"]],
    ["a list without $in", { outcome: { ...outcome, value: [1] } }, ["outcome", "value"]],
    ["no path", { outcome: { op: "$eq", value: 1 } }, ["outcome", "json_path"]],
    ["an order by its cost without costs", { outcome, order_by: "cost_per_passed" }, ["order_by"]],
    ["an order by it without it", { order_by: "rated" }, ["order_by"]],
  ])("refuse %s with its place", async (_name, more, place) => {
    const response = await test.post("/usage/stats", { project_id, ...WINDOW, ...more });
    expect(response.status).toBe(422);
    expect(response.json().detail[0].loc).toEqual(["body", ...place]);
  });
});
