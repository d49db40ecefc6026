import type { Operations } from "../operation.ts";

const id = "0198f5e2-0000-7000-8000-000000000001";
const trace_id = "0198f5e2-0000-7000-8000-0000000000aa";
const start = {
  project_id: "acme/demo",
  id,
  trace_id,
  op_name: "answer",
  started_at: "2026-01-15T09:30:00Z",
  attributes: {},
  inputs: { question: "What does a trace cost?" },
};
const end = {
  project_id: "acme/demo",
  id,
  ended_at: "2026-01-15T09:30:06.5Z",
  output: "What its calls cost.",
  summary: { usage: { "gpt-4o": { requests: 1, prompt_tokens: 600, completion_tokens: 150 } } },
};
const call = {
  id,
  project_id: "acme/demo",
  op_name: "answer",
  display_name: null,
  trace_id,
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
  inputs: start.inputs,
  output: end.output,
  summary: { ...end.summary, weave: { status: "success", latency_ms: 6500, trace_name: "answer" } },
};
const durable = "A response of 200 means that the data is on disk.";
const anyOrder = "Starts and ends may arrive in any order, repeatedly, and long after each other.";

export const callOperations: Operations = {
  "POST /call/start": {
    id: "startCall",
    summary: "Start a call",
    description: `Missing ids are generated. ${durable}`,
    response: "The ids of the call",
    example: { request: { start }, response: { id, trace_id } },
  },
  "POST /call/end": {
    id: "endCall",
    summary: "End a call",
    description: `The call's start may arrive later. ${durable}`,
    response: "Stored",
    example: { request: { end }, response: {} },
  },
  "POST /call/upsert_batch": {
    id: "upsertCalls",
    summary: "Store starts and ends of calls, in any order",
    description: `${anyOrder} Invalid items are rejected and listed in the response; the others are stored. ${durable}`,
    response: "The result for each item",
    example: {
      request: {
        batch: [
          { mode: "start", req: { start } },
          { mode: "end", req: { end } },
        ],
      },
      response: { res: [{ id, trace_id }, {}], rejected: [] },
    },
  },
  "POST /v2/{entity}/{project}/call/start": {
    id: "startCallV2",
    summary: "Start a call",
    description: `As \`POST /call/start\`. ${durable}`,
    response: "The ids of the call",
    example: { request: { start }, response: { id, trace_id } },
  },
  "POST /v2/{entity}/{project}/call/end": {
    id: "endCallV2",
    summary: "End a call",
    description: `As \`POST /call/end\`. ${durable}`,
    response: "Stored",
    example: { request: { end }, response: {} },
  },
  "POST /v2/{entity}/{project}/calls/complete": {
    id: "completeCalls",
    summary: "Whole calls",
    description: `Each item contains both the start and the end of a call. Without \`ended_at\`, the call is still running. Invalid items are rejected and listed in the response; the others are stored. ${durable}`,
    response: "The rejected items",
    example: {
      request: { batch: [{ ...start, ended_at: end.ended_at, output: end.output, summary: end.summary }] },
      response: { rejected: [] },
    },
  },
  "POST /call/update": {
    id: "renameCall",
    summary: "Give a call a display name",
    description: `The call may arrive later. ${durable}`,
    response: "Stored",
    example: {
      request: { project_id: "acme/demo", call_id: id, display_name: "the first answer" },
      response: {},
    },
  },
  "POST /calls/delete": {
    id: "deleteCalls",
    summary: "Delete calls and all their descendants",
    description:
      "From then on, no response contains them. Their data is deleted from the disk in the background, which `GET /deletions/{id}` follows. " +
      "A call that arrives later under one of the ids is deleted, too.",
    response: "The number of calls deleted, and the id of their erasure",
    example: {
      request: { project_id: "acme/demo", call_ids: [id] },
      response: { num_deleted: 1, deletion_id: "0123456789ab" },
    },
  },
  "POST /call/read": {
    id: "readCall",
    summary: "One call",
    description: "With its payloads as sent, and what Sumtree computes for it in `summary.weave`.",
    response: "The call, or null",
    example: { request: { project_id: "acme/demo", id }, response: { call } },
  },
  "POST /calls/stream_query": {
    id: "queryCalls",
    summary: "Calls, one JSON object per line",
    description: "The body is NDJSON: each line is a `Call`. A transfer that breaks off is incomplete.",
    response: "One call per line",
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
  },
  "POST /calls/query_stats": {
    id: "countCalls",
    summary: "Count calls",
    description: "Of the calls that `filter` and `query` select.",
    response: "The count",
    example: {
      request: { project_id: "acme/demo", filter: { trace_roots_only: true } },
      response: { count: 42 },
    },
  },
};
