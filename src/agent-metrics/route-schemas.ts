import { routeSchemas } from "../http/openapi/route-text.ts";
import { agentStatsRequest, agentStatsResponse } from "./schema.ts";

const total = {
  active_seconds: 5400,
  lines_added: 420,
  lines_removed: 130,
  commits: 6,
  pull_requests: 2,
  edits_accepted: 31,
  edits_rejected: 4,
  sessions: 3,
  reported_tokens: 2_400_000,
  reported_cost: null,
};

/** Route schemas by operation id. */
export const schemas = routeSchemas({
  agentStats: {
    summary: "Get what coding agents report that they did, by group",
    description:
      "Adds up the outcomes that coding agents report as OpenTelemetry metrics: lines of code, commits, pull requests, edits, active " +
      "time and sessions. The same groups and window in `POST /usage/stats` have the costs. Tokens and costs of these metrics are " +
      "kept for a day to compare them, and are never added to usage.",
    success: "Totals by group",
    example: {
      request: {
        project_id: "acme/demo",
        start: "2026-01-15T00:00:00Z",
        end: "2026-01-16T00:00:00Z",
        group_by: ["svc_user_id", { $getField: "attributes.team.id" }],
      },
      response: {
        start: "2026-01-15T00:00:00.000Z",
        end: "2026-01-16T00:00:00.000Z",
        timezone: "UTC",
        groups: [{ key: { svc_user_id: "ann@example.com", "attributes.team.id": "payments" }, total }],
        other: null,
        total,
      },
    },
    body: agentStatsRequest,
    response: { 200: agentStatsResponse },
  },
});
