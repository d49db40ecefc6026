import { routeSchemas } from "../../../http/openapi/route-text.ts";
import * as schema from "./schema.ts";

const trace_id = "0198f5e2-0000-7000-8000-0000000000aa";

/** The routes by their operation ids. */
export const schemas = routeSchemas({
  traceCalls: {
    summary: "The calls of a trace, as a tree needs them",
    description:
      "One JSON array a line, oldest call first, without payloads: the first line has the names of the values, each line after " +
      "it a call. `parent_id`, `display_name`, `ended_ms` and `exception` can be null; of an exception, these are the first 200 " +
      "characters. 100,000 calls are a few megabytes, where `POST /calls/stream_query` sends ten times as many.",
    success: "The calls of the trace; none where there is no such trace",
    example: {
      request: { project_id: "acme/demo", trace_id },
      response: [
        "0198f5e2-0000-7000-8000-000000000001",
        null,
        "answer",
        null,
        1768469400000,
        1768469406500,
        null,
      ],
    },
    body: schema.traceCallsReq,
    response: { 200: schema.traceCallsRes },
  },
  traceSizes: {
    summary: "How many calls traces have, and how many of them failed",
    description: "Of whole traces, whenever their calls began. Cheaper than what they used.",
    success: "A size for each trace that has calls",
    example: {
      request: { project_id: "acme/demo", trace_ids: [trace_id] },
      response: { sizes: [{ trace_id, calls: 6, failed: 1, unfinished: 0 }] },
    },
    body: schema.traceSizesReq,
    response: { 200: schema.traceSizesRes },
  },
});
