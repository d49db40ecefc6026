import type { Operations } from "../operation.ts";

const id = "0198f5e2-0000-7000-8000-0000000000f1";
const feedback = {
  project_id: "acme/demo",
  id,
  weave_ref: "weave:///acme/demo/call/0198f5e2-0000-7000-8000-000000000001",
  feedback_type: "relevance",
  payload: { output: { score: 0.8, passed: true } },
};
const created = {
  id,
  created_at: "2026-01-15T09:31:00.000Z",
  wb_user_id: "0123456789ab",
  payload: feedback.payload,
};
const durable = "A response of 200 means that the data is on disk.";
const listed = { id, feedback_type: "relevance", created_at: created.created_at, payload: feedback.payload };
const byId = { $expr: { $eq: [{ $getField: "id" }, { $literal: id }] } };

export const feedbackOperations: Operations = {
  "POST /feedback/create": {
    id: "createFeedback",
    summary: "Add feedback to a call",
    description: `Feedback with an existing id replaces it and keeps its time. ${durable}`,
    response: "The feedback as stored",
    example: { request: feedback, response: created },
  },
  "POST /feedback/batch/create": {
    id: "createFeedbackBatch",
    summary: "Add feedback to many calls",
    description: `Invalid items are rejected and listed in the response; the others are stored. ${durable}`,
    response: "The result for each item",
    example: { request: { batch: [feedback] }, response: { res: [created], rejected: [] } },
  },
  "POST /feedback/replace": {
    id: "replaceFeedback",
    summary: "Replace feedback",
    description: `The old feedback does not have to exist. ${durable}`,
    response: "The new feedback as stored",
    example: { request: { ...feedback, feedback_id: id }, response: created },
  },
  "POST /feedback/query": {
    id: "queryFeedback",
    summary: "Feedback that matches",
    description: "The query is the same as for calls, over the fields of feedback.",
    response: "The feedback, with the requested fields",
    truncated: "more feedback matches than `limit` allows, or than fits into one response (32 MiB).",
    example: {
      request: {
        project_id: "acme/demo",
        fields: ["id", "feedback_type", "created_at", "payload"],
        query: { $expr: { $eq: [{ $getField: "feedback_type" }, { $literal: "relevance" }] } },
        limit: 100,
      },
      response: { result: [listed] },
    },
  },
  "POST /feedback/purge": {
    id: "purgeFeedback",
    summary: "Delete feedback by id",
    description: "Feedback is deleted by id. Deleting one that does not exist is not an error.",
    response: "Deleted",
    example: { request: { project_id: "acme/demo", query: byId }, response: {} },
  },
  "POST /feedback/stats": {
    id: "feedbackStats",
    summary: "Aggregate feedback over local-time buckets and over the window",
    description:
      "Counts of feedback and aggregations of the values at paths of its payload, per bucket of `granularity` seconds and over " +
      "the whole window. Buckets begin at local midnights and hours of `timezone`, across changes of daylight saving time. The " +
      "response contains every bucket of the window, including empty ones. The average of no values is null.",
    response: "The buckets in order, and the whole window",
    also: { response: { "text/csv": { schema: { type: "string" } } } },
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
  },
  "POST /feedback/payload_schema": {
    id: "feedbackPaths",
    summary: "Discover the paths that metrics can use",
    description: "The paths in the payloads of a sample of the window's newest feedback.",
    response: "The paths and the kind of metric for each",
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
  },
};
