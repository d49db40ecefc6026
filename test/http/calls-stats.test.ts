import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../helpers/start-app.ts";

const project_id = "acme/calls-stats";
let test: TestApp;

const call = (id: string, at: string, more: object = {}) => ({
  id,
  trace_id: "t",
  op_name: "op",
  started_at: at,
  ended_at: new Date(Date.parse(at) + 100).toISOString(),
  inputs: {},
  attributes: {},
  output: null,
  summary: { usage: { "gpt-4o": { requests: 1, prompt_tokens: 1000, completion_tokens: 100 } } },
  ...more,
});

beforeAll(async () => {
  test = await startApp();
  const batch = [
    // the SDK has added its child's usage into this one
    call("top", "2026-01-01T00:10:00Z", {
      attributes: { weave: { source: "python-sdk" } },
      exception: "boom",
    }),
    call("model", "2026-01-01T00:10:01Z", { parent_id: "top" }),
    call("later", "2026-01-01T02:00:00Z", {
      ended_at: null,
      summary: { usage: { other: { requests: 1, input_tokens: 7 } } },
      wb_user_id: "ann",
    }),
  ];
  const stored = await test.post(`/v2/${project_id}/calls/complete`, { batch });
  expect(stored.json()).toEqual({ rejected: [] });
});
afterAll(() => test.close());

const window = { project_id, start: "2026-01-01T00:00:00Z", end: "2026-01-01T03:00:00Z", granularity: 3600 };

describe("POST /calls/stats", () => {
  it("sums the metrics that the Weave SDKs request, each token once", async () => {
    const response = await test.post("/calls/stats", {
      ...window,
      usage_metrics: [
        { metric: "input_tokens" },
        { metric: "output_tokens", aggregations: ["avg", "max", "count"], percentiles: [50] },
        { metric: "total_cost", aggregations: ["sum"] },
        { metric: "total_cost", aggregations: ["min"] },
      ],
      call_metrics: [
        { metric: "latency_ms", aggregations: ["avg"], percentiles: [95] },
        { metric: "call_count", aggregations: ["sum"] },
        { metric: "error_count", aggregations: ["sum", "count_true", "count_false"] },
      ],
    });
    expect(response.status, response.text).toBe(200);
    const { usage_buckets, call_buckets, ...rest } = response.json();
    expect(rest).toEqual({
      start: "2026-01-01T00:00:00.000Z",
      end: "2026-01-01T03:00:00.000Z",
      granularity: 3600,
      timezone: "UTC",
    });
    const at = (hour: number) => `2026-01-01T0${hour}:00:00.000Z`;
    const none = {
      sum_input_tokens: 0,
      avg_output_tokens: null,
      max_output_tokens: null,
      count_output_tokens: 0,
      p50_output_tokens: null,
      sum_total_cost: 0,
      min_total_cost: null,
      count: 0,
    };
    const used = {
      sum_input_tokens: 1000,
      avg_output_tokens: 100,
      max_output_tokens: 100,
      count_output_tokens: 1,
      p50_output_tokens: 100,
      sum_total_cost: 0.0035,
      min_total_cost: 0.0035,
      count: 1,
    };
    const other = {
      ...none,
      sum_input_tokens: 7,
      avg_output_tokens: 0,
      max_output_tokens: 0,
      count_output_tokens: 1,
      p50_output_tokens: 0,
      // nobody knows its price
      sum_total_cost: null,
      count: 1,
    };
    expect(usage_buckets).toEqual([
      { timestamp: at(0), model: "gpt-4o", ...used },
      { timestamp: at(0), model: "other", ...none },
      { timestamp: at(1), model: "gpt-4o", ...none },
      { timestamp: at(1), model: "other", ...none },
      { timestamp: at(2), model: "gpt-4o", ...none },
      { timestamp: at(2), model: "other", ...other },
    ]);
    expect(call_buckets).toEqual([
      {
        timestamp: at(0),
        avg_latency_ms: 100,
        p95_latency_ms: 100,
        sum_call_count: 2,
        sum_error_count: 1,
        count_true_error_count: 1,
        count_false_error_count: 1,
        count: 2,
      },
      {
        timestamp: at(1),
        avg_latency_ms: null,
        p95_latency_ms: null,
        sum_call_count: 0,
        sum_error_count: 0,
        count_true_error_count: 0,
        count_false_error_count: 0,
        count: 0,
      },
      {
        timestamp: at(2),
        avg_latency_ms: null,
        p95_latency_ms: null,
        sum_call_count: 1,
        sum_error_count: 0,
        count_true_error_count: 0,
        count_false_error_count: 1,
        count: 1,
      },
    ]);
  });

  it("accepts the SDK's names in a filter, and returns only requested metrics", async () => {
    const response = await test.post("/calls/stats", {
      ...window,
      filter: { wb_user_ids: ["ann"] },
      call_metrics: [{ metric: "call_count" }],
      something_newer: true,
    });
    expect(response.json().usage_buckets).toEqual([]);
    expect(response.json().call_buckets.map((bucket: { count: number }) => bucket.count)).toEqual([0, 0, 1]);
  });
});
