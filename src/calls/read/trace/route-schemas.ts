import { routeSchemas } from "../../../http/openapi/route-text.ts";
import * as schema from "./schema.ts";

const trace_id = "0198f5e2-0000-7000-8000-0000000000aa";

/** Routes by operation id. */
export const schemas = routeSchemas({
  traceCalls: {
    summary: "List the calls of a trace, without payloads",
    description:
      "Streams one JSON array per line, oldest call first: the first line names the values, each further line is a call. " +
      "`parent_id`, `display_name`, `ended_ms` and `exception` can be null; exceptions are cut to 200 characters. " +
      "100,000 calls take a few megabytes, a tenth of `POST /calls/stream_query`.",
    success: "The calls of the trace; none if it does not exist",
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
    summary: "Count the calls of traces",
    description: "Counts all, failed and unfinished calls of whole traces. Cheaper than `POST /trace/usage`.",
    success: "Counts of each trace with calls",
    example: {
      request: { project_id: "acme/demo", trace_ids: [trace_id] },
      response: { sizes: [{ trace_id, calls: 6, failed: 1, unfinished: 0 }] },
    },
    body: schema.traceSizesReq,
    response: { 200: schema.traceSizesRes },
  },
});
