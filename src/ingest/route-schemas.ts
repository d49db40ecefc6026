import { routeSchemas } from "../http/openapi/route-text.ts";
import { emptyRes } from "../http/schemas/response-schema.ts";
import * as schema from "./schema.ts";

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
const durable = "A response of 200 means that the data is on disk.";
const anyOrder = "Starts and ends may arrive in any order, repeatedly, and long after each other.";

/** Route schemas by operation id. */
export const schemas = routeSchemas({
  startCall: {
    summary: "Start a call",
    description: `Missing ids are generated. ${durable}`,
    success: "The ids of the call",
    example: { request: { start }, response: { id, trace_id } },
    body: schema.startBody,
    response: { 200: schema.startRes },
  },
  endCall: {
    summary: "End a call",
    description: `The call's start may arrive later. ${durable}`,
    success: "Stored",
    example: { request: { end }, response: {} },
    body: schema.endBody,
    response: { 200: emptyRes },
  },
  upsertCalls: {
    summary: "Store starts and ends of calls, in any order",
    description: `${anyOrder} Invalid items are rejected and listed in the response; the others are stored. ${durable}`,
    success: "The result for each item",
    example: {
      request: {
        batch: [
          { mode: "start", req: { start } },
          { mode: "end", req: { end } },
        ],
      },
      response: { res: [{ id, trace_id }, {}], rejected: [] },
    },
    body: schema.upsertBatchBody,
    response: { 200: schema.upsertBatchRes },
  },
  startCallV2: {
    summary: "Start a call",
    description: `As \`POST /call/start\`. ${durable}`,
    success: "The ids of the call",
    example: { request: { start }, response: { id, trace_id } },
    params: schema.projectParams,
    body: schema.startBodyOfPath,
    response: { 200: schema.startRes },
  },
  endCallV2: {
    summary: "End a call",
    description: `As \`POST /call/end\`. ${durable}`,
    success: "Stored",
    example: { request: { end }, response: {} },
    params: schema.projectParams,
    body: schema.endBodyOfPath,
    response: { 200: emptyRes },
  },
  completeCalls: {
    summary: "Store complete calls",
    description: `Each item contains both the start and the end of a call. Without \`ended_at\`, the call is still running. Invalid items are rejected and listed in the response; the others are stored. ${durable}`,
    success: "The rejected items",
    example: {
      request: { batch: [{ ...start, ended_at: end.ended_at, output: end.output, summary: end.summary }] },
      response: { rejected: [] },
    },
    params: schema.projectParams,
    body: schema.completeBatchBody,
    response: { 200: schema.completeBatchRes },
  },
  renameCall: {
    summary: "Give a call a display name",
    description: `The call may arrive later. ${durable}`,
    success: "Stored",
    example: {
      request: { project_id: "acme/demo", call_id: id, display_name: "the first answer" },
      response: {},
    },
    body: schema.updateBody,
    response: { 200: emptyRes },
  },
  deleteCalls: {
    summary: "Delete calls and all their descendants",
    description:
      "Responses no longer contain them. Their data is deleted from disk in the background; `GET /deletions/{id}` reports the progress. " +
      "A call that arrives later under one of the ids is deleted, too.",
    success: "The number of calls deleted, and the id of the deletion",
    example: {
      request: { project_id: "acme/demo", call_ids: [id] },
      response: { num_deleted: 1, deletion_id: "0123456789ab" },
    },
    body: schema.deleteBody,
    response: { 200: schema.deleteRes },
  },
});
