import { routeSchemas } from "../http/openapi/route-text.ts";
import { emptyRes } from "../http/schemas/response-schema.ts";
import { queryBody } from "./list-schema.ts";
import { batchRes, createRes, listRes } from "./response-schema.ts";
import * as schema from "./schema.ts";

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

/** Route schemas by operation id. */
export const schemas = routeSchemas({
  createFeedback: {
    summary: "Add feedback to a call",
    description: `Feedback with an existing id replaces it and keeps its time. ${durable}`,
    success: "The feedback as stored",
    example: { request: feedback, response: created },
    body: schema.createBody,
    response: { 200: createRes },
  },
  createFeedbackBatch: {
    summary: "Add feedback to many calls",
    description: `Invalid items are rejected and listed in the response; the others are stored. ${durable}`,
    success: "The result for each item",
    example: { request: { batch: [feedback] }, response: { res: [created], rejected: [] } },
    body: schema.batchBody,
    response: { 200: batchRes },
  },
  replaceFeedback: {
    summary: "Replace feedback",
    description: `The old feedback does not have to exist. ${durable}`,
    success: "The new feedback as stored",
    example: { request: { ...feedback, feedback_id: id }, response: created },
    body: schema.replaceBody,
    response: { 200: createRes },
  },
  queryFeedback: {
    summary: "Query feedback",
    description: "The query language is that of calls, over the fields of feedback.",
    success: "The feedback, with the requested fields",
    truncated: "more feedback matches than `limit` or the response size limit (32 MiB) allow.",
    example: {
      request: {
        project_id: "acme/demo",
        fields: ["id", "feedback_type", "created_at", "payload"],
        query: { $expr: { $eq: [{ $getField: "feedback_type" }, { $literal: "relevance" }] } },
        limit: 100,
      },
      response: { result: [listed] },
    },
    body: queryBody,
    response: { 200: listRes },
  },
  purgeFeedback: {
    summary: "Delete feedback by id",
    description: "The query must select feedback by id. Deleting an unknown id is not an error.",
    success: "Deleted",
    example: { request: { project_id: "acme/demo", query: byId }, response: {} },
    body: schema.purgeBody,
    response: { 200: emptyRes },
  },
});
