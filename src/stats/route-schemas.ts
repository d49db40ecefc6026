import { routeSchemas } from "../http/openapi/route-text.ts";
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
});
