import { routeSchemas } from "../../http/openapi/route-text.ts";
import { pathsRequestSchema, pathsResponseSchema, statsResponseSchema } from "./schema.ts";

/** Route schemas by operation id. */
export const schemas = routeSchemas({
  feedbackStats: {
    summary: "Aggregate feedback over local-time buckets and over the window",
    description:
      "Counts of feedback and aggregations of the values at paths of its payload, per bucket of `granularity` seconds and over " +
      "the whole window. Buckets begin at local midnights and hours of `timezone`, across changes of daylight saving time. The " +
      "response contains every bucket of the window, including empty ones. The average of no values is null. `group_by` adds " +
      "`groups`, by up to two fields of the calls that the feedback is about, and `other` for those beyond `limit`; together they " +
      "are all feedback. Feedback about no call, or a deleted one, has null for every field.",
    success: "The buckets in order, and the whole window",
    alsoSends: "text/csv",
    example: {
      request: {
        project_id: "acme/demo",
        start: "2026-01-15T00:00:00Z",
        end: "2026-01-16T00:00:00Z",
        granularity: 86_400,
        timezone: "Europe/Berlin",
        metrics: [{ json_path: "output.score", aggregations: ["avg"], percentiles: [95] }],
      },
      response: {
        start: "2026-01-15T00:00:00.000Z",
        end: "2026-01-16T00:00:00.000Z",
        granularity: 86_400,
        timezone: "Europe/Berlin",
        buckets: [
          {
            timestamp: "2026-01-14T23:00:00.000Z",
            count: 1,
            avg_output_score: 0.8,
            p95_output_score: 0.8,
          },
          {
            timestamp: "2026-01-15T23:00:00.000Z",
            count: 0,
            avg_output_score: null,
            p95_output_score: null,
          },
        ],
        window_stats: { output_score: { avg: 0.8, p95: 0.8 } },
      },
    },
    response: { 200: statsResponseSchema },
  },
  feedbackPaths: {
    summary: "Discover the paths that metrics can use",
    description: "The paths in the payloads of a sample of the window's newest feedback.",
    success: "The paths and the kind of metric for each",
    truncated: "there are more paths than the response contains (10,000).",
    example: {
      request: { project_id: "acme/demo", start: "2026-01-15T00:00:00Z", sample_limit: 2000 },
      response: {
        paths: [
          { json_path: "output.passed", value_type: "boolean" },
          { json_path: "output.score", value_type: "numeric" },
        ],
      },
    },
    body: pathsRequestSchema,
    response: { 200: pathsResponseSchema },
  },
});
