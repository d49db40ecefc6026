import { z } from "zod";
import { anyInteger, projectId } from "../../../http/schemas/fields.ts";

export const traceCallsReq = z
  .strictObject({ project_id: projectId, trace_id: z.string() })
  .meta({ id: "TraceCallsReq" });

/** First line of the response; each further line has a call's values in this order. */
export const LINE_NAMES = [
  "id",
  "parent_id",
  "op_name",
  "display_name",
  "started_ms",
  "ended_ms",
  "exception",
] as const;

const line = z
  .array(z.union([z.string(), z.number(), z.null()]))
  .length(LINE_NAMES.length)
  .describe(
    `First line: ${LINE_NAMES.join(", ")}. Further lines: these values of a call. Times in milliseconds since the epoch`,
  )
  .meta({ id: "TraceCallsLine" });

/** Used only for OpenAPI: ClickHouse encodes the lines. */
export const traceCallsRes = { content: { "application/x-ndjson": { schema: line } } };

const MAX_TRACES = 1000;

export const traceSizesReq = z
  .strictObject({ project_id: projectId, trace_ids: z.array(z.string()).max(MAX_TRACES) })
  .meta({ id: "TraceSizesReq" });

const traceSize = z
  .object({
    trace_id: z.string(),
    calls: anyInteger.min(0),
    failed: anyInteger.min(0).describe("Calls with an exception"),
    unfinished: anyInteger.min(0).describe("Calls that have not ended"),
  })
  .meta({ id: "TraceSize" });
export type TraceSize = z.output<typeof traceSize>;

export const traceSizesRes = z
  .object({ sizes: z.array(traceSize).describe("Without traces that have no calls") })
  .meta({ id: "TraceSizesRes" });
