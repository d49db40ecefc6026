import { routeSchemas } from "../../http/openapi/route-text.ts";
import * as schema from "./schema.ts";

const id = "0198f5e2-0000-7000-8000-000000000001";
const call = {
  id,
  project_id: "acme/demo",
  op_name: "answer",
  display_name: null,
  trace_id: "0198f5e2-0000-7000-8000-0000000000aa",
  parent_id: null,
  thread_id: null,
  turn_id: null,
  started_at: "2026-01-15T09:30:00.000000Z",
  ended_at: "2026-01-15T09:30:06.500000Z",
  exception: null,
  wb_user_id: null,
  wb_run_id: null,
  wb_run_step: null,
  deleted_at: null,
  attributes: {},
  inputs: { question: "What does a trace cost?" },
  output: "What its calls cost.",
  summary: {
    usage: { "gpt-4o": { requests: 1, prompt_tokens: 600, completion_tokens: 150 } },
    weave: { status: "success", latency_ms: 6500, trace_name: "answer" },
  },
};

/** Routes by operation id. */
export const schemas = routeSchemas({
  queryCalls: {
    summary: "Query calls",
    description: "Streams NDJSON: each line is a `Call`. A response that breaks off is incomplete.",
    success: "One call per line",
    truncated: "more calls match than `limit` allows.",
    hasPages: true,
    example: {
      request: {
        project_id: "acme/demo",
        filter: { op_names: ["answer"] },
        sort_by: [{ field: "started_at", direction: "desc" }],
        limit: 100,
        columns: ["id", "started_at", "summary"],
      },
      response: { ...call, inputs: {}, output: null },
    },
    body: schema.streamQueryBody,
    response: { 200: { content: { "application/x-ndjson": { schema: schema.call } } } },
  },
  readCall: {
    summary: "Read a call",
    description: "Returns its payloads as sent, and computed fields in `summary.weave`.",
    success: "The call, or null",
    example: { request: { project_id: "acme/demo", id }, response: { call } },
    body: schema.callReadBody,
    response: { 200: schema.callReadRes },
  },
  countCalls: {
    summary: "Count calls",
    description: "Counts the calls that `filter` and `query` select.",
    success: "The count",
    example: {
      request: { project_id: "acme/demo", filter: { trace_roots_only: true } },
      response: { count: 42 },
    },
    body: schema.queryStatsBody,
    response: { 200: schema.queryStatsRes },
  },
  queryFields: {
    summary: "Find the fields that calls have",
    description:
      "Lists the names that `$getField` can read: columns with a value, and the paths in inputs, output, attributes and summary, in " +
      "the first item of lists. A dot within a key is escaped. The names come from the newest 1,000 calls of the window, without " +
      "deleted calls and values over 256 KiB, and from fewer if these have over 32 MiB together.",
    success: "At most 1,000 fields",
    example: {
      request: { project_id: "acme/demo", prefix: "inputs." },
      response: {
        fields: [{ path: "inputs.question", type: "string", example: "What does a trace cost?" }],
        truncated: false,
      },
    },
    body: schema.fieldsQueryBody,
    response: { 200: schema.fieldsQueryRes },
  },
});
