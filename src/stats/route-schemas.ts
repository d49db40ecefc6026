import { routeSchemas } from "../http/openapi/route-text.ts";
import { callsStatsResponse } from "./calls-stats/schema.ts";
import { usageStatsResponse } from "./schema.ts";

const usage = {
  requests: 2,
  prompt_tokens: 1200,
  completion_tokens: 300,
  total_tokens: 1500,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
  prompt_tokens_total_cost: 0.003,
  completion_tokens_total_cost: 0.003,
  cache_read_input_tokens_total_cost: 0,
  cache_creation_input_tokens_total_cost: 0,
};
const day = {
  calls: 2,
  errors: 0,
  ...usage,
  other_cost: 0,
  total_cost: 0.006,
  stated_cost: null,
  calls_stated: 0,
  partial: false,
};
const nothing = Object.fromEntries(
  Object.entries(day).map(([name, value]) => [name, typeof value === "number" ? 0 : value]),
);

/** The routes by their operation ids. */
export const schemas = routeSchemas({
  usageStats: {
    summary: "Get usage and costs over time, by group",
    description:
      "Selects the calls of a window by `filter` and `query`, and adds them up in buckets of local time and in up to a thousand " +
      "groups. Each call only adds its own usage, so no token is counted twice: the groups and `other` add up to `total`, and " +
      "so do the buckets. With `accept: text/csv`, the response has one line per group and bucket with calls.",
    success: "Totals by group and bucket",
    alsoSends: "text/csv",
    example: {
      request: {
        project_id: "acme/demo",
        start: "2026-01-15T00:00:00Z",
        end: "2026-01-16T00:00:00Z",
        timezone: "Europe/Berlin",
        granularity: 86400,
        group_by: ["llm", { $getField: "attributes.tenant" }],
        include_costs: true,
      },
      response: {
        start: "2026-01-15T00:00:00.000Z",
        end: "2026-01-16T00:00:00.000Z",
        granularity: 86400,
        timezone: "Europe/Berlin",
        groups: [{ key: { llm: "gpt-4o", "attributes.tenant": "a" }, total: day }],
        other: null,
        total: day,
        buckets: [
          { timestamp: "2026-01-14T23:00:00.000Z", total: day, groups: [day], other: null },
          { timestamp: "2026-01-15T23:00:00.000Z", total: nothing, groups: [null], other: null },
        ],
        unpriced: [],
      },
    },
    response: { 200: usageStatsResponse },
  },
  callsStats: {
    summary: "Usage by model and latencies over time, for the Weave SDKs",
    description:
      "`usage_metrics` by bucket and model and `call_metrics` by bucket, over the calls of a window. Each call only adds its own " +
      "usage, so nothing is counted twice, even without a filter. Costs use the prices at the time of each call.",
    success: "Buckets of usage and of calls",
    example: {
      request: {
        project_id: "acme/demo",
        start: "2026-01-15T00:00:00Z",
        end: "2026-01-16T00:00:00Z",
        granularity: 86400,
        usage_metrics: [{ metric: "input_tokens" }, { metric: "total_cost", aggregations: ["sum", "max"] }],
        call_metrics: [{ metric: "latency_ms", aggregations: ["avg"], percentiles: [95] }],
      },
      response: {
        start: "2026-01-15T00:00:00.000Z",
        end: "2026-01-16T00:00:00.000Z",
        granularity: 86400,
        timezone: "UTC",
        usage_buckets: [
          {
            timestamp: "2026-01-15T00:00:00.000Z",
            model: "gpt-4o",
            sum_input_tokens: 1200,
            sum_total_cost: 0.006,
            max_total_cost: 0.004,
            count: 2,
          },
        ],
        call_buckets: [
          { timestamp: "2026-01-15T00:00:00.000Z", avg_latency_ms: 850, p95_latency_ms: 1200, count: 2 },
        ],
      },
    },
    response: { 200: callsStatsResponse },
  },
});
