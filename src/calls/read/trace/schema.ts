import { z } from "zod";
import { anyInteger, projectId } from "../../../http/schemas/fields.ts";

export const traceCallsReq = z
  .strictObject({ project_id: projectId, trace_id: z.string() })
  .meta({ id: "TraceCallsReq" });

/** The first line of the response; in each line after it, a call's values in this order. */
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
    `The first line: ${LINE_NAMES.join(", ")}. Each line after it: these values of a call. Times are milliseconds since the epoch`,
  )
  .meta({ id: "TraceCallsLine" });

/** Described, not used: the store writes the lines. */
export const traceCallsRes = { content: { "application/x-ndjson": { schema: line } } };

const MAX_TRACES = 1000;

export const traceSizesReq = z
  .strictObject({ project_id: projectId, trace_ids: z.array(z.string()).max(MAX_TRACES) })
  .meta({ id: "TraceSizesReq" });

const traceSize = z
  .object({
    trace_id: z.string(),
    calls: anyInteger.min(0),
    failed: anyInteger.min(0).describe("Those with an exception"),
    unfinished: anyInteger.min(0).describe("Those that have not ended"),
  })
  .meta({ id: "TraceSize" });
export type TraceSize = z.output<typeof traceSize>;

export const traceSizesRes = z
  .object({ sizes: z.array(traceSize).describe("A trace without calls is left out") })
  .meta({ id: "TraceSizesRes" });
