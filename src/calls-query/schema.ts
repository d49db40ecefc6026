import { z } from "zod";
import { describedAs, isoInstant, projectId, anyInteger } from "../http/fields.ts";
import { jsonObject } from "../http/response-schema.ts";
import { callsQuery, sdkFilter, type SelectionLimits } from "../query/index.ts";

/** The maximum number of calls in one response. */
export const MAX_LIMIT = 1_000_000;

const includeCosts = z
  .boolean()
  .nullish()
  .describe("Adds what the call's usage costs, as `summary.weave.costs`.");

/** Unknown members from SDKs are ignored. */
export function streamQueryBody(limits: SelectionLimits) {
  const body = z.object({
    project_id: projectId,
    filter: sdkFilter(limits).nullish(),
    query: callsQuery(limits).nullish(),
    sort_by: z
      .array(z.object({ field: z.string(), direction: z.enum(["asc", "desc"]) }))
      .max(10)
      .nullish()
      .describe(
        "Default: oldest first, by `started_at` and `id`. Calls that are equal come by `id`: in the direction of `started_at` where it is among the fields, else descending.",
      ),
    limit: z.int().min(0).max(Number.MAX_SAFE_INTEGER).nullish(),
    offset: z.int().min(0).max(Number.MAX_SAFE_INTEGER).nullish(),
    page_token: z
      .string()
      .max(4096)
      .nullish()
      .describe(
        "The page after the one whose answer had this in `x-next-page-token`. Pages are those of calls sorted by `started_at` alone, either way; calls that come meanwhile move none of them.",
      ),
    include_costs: includeCosts,
    include_feedback: z
      .boolean()
      .nullish()
      .describe("Adds what was said about the call, oldest first, as `summary.weave.feedback`."),
    columns: z
      .array(z.string())
      .max(1000)
      .nullish()
      .describe("Fields to answer with; payloads that none of them is of are left empty."),
  });
  return body.meta({ id: "CallsQueryReq" });
}

export function queryStatsBody(limits: SelectionLimits) {
  const body = z.object({
    project_id: projectId,
    filter: sdkFilter(limits).nullish(),
    query: callsQuery(limits).nullish(),
  });
  return body.meta({ id: "CallsQueryStatsReq" });
}

export const callReadBody = z
  .object({ project_id: projectId, id: z.string(), include_costs: includeCosts })
  .meta({ id: "CallReadReq" });

export const queryStatsRes = z
  .object({ count: z.int().min(0).describe("How many calls match") })
  .meta({ id: "CallsQueryStatsRes" });

// Only for the description: calls are written as text, with their payloads as stored.

const text = z.string().nullable();

const computed = z
  .looseObject({
    status: z.enum(["running", "success", "error", "descendant_error"]),
    latency_ms: z.int().nullable().describe("null: the call still runs"),
    trace_name: z.string(),
    costs: z
      .record(z.string(), describedAs("LLMAggregatedUsage"))
      .optional()
      .describe("By LLM, when `include_costs` is set"),
    feedback: z.array(describedAs("Feedback")).optional().describe("When `include_feedback` is set"),
  })
  .describe("What Sumtree computes of the call");

export const call = z
  .object({
    id: z.string(),
    project_id: projectId,
    op_name: z.string(),
    display_name: text,
    trace_id: z.string(),
    parent_id: text,
    thread_id: text,
    turn_id: text,
    started_at: isoInstant,
    ended_at: isoInstant.nullable().describe("null: the call still runs"),
    exception: text,
    wb_user_id: text,
    wb_run_id: text,
    wb_run_step: anyInteger.nullable(),
    deleted_at: z.null(),
    attributes: jsonObject,
    inputs: jsonObject,
    output: z.unknown().describe("JSON of any kind"),
    summary: z.looseObject({ weave: computed.optional() }),
  })
  .meta({ id: "Call", description: "A call. Payloads that were not asked for are empty." });

export const callReadRes = z
  .object({ call: call.nullable().describe("null: there is no such call") })
  .meta({ id: "CallReadRes" });
