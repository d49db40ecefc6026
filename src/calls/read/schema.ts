import { z } from "zod";
import { describedAs, instantMicros, isoInstant, projectId, anyInteger } from "../../http/schemas/fields.ts";
import { jsonObject } from "../../http/schemas/response-schema.ts";
import { EXAMPLE_CHARACTERS, FIELD_TYPES, MAX_FIELDS } from "./fields/found-fields.ts";
import { MAX_TOKEN_LENGTH } from "./page-token.ts";
import { callsQuery, sdkFilter } from "../../query/read/wire-schema.ts";

/** Maximum calls in one response. */
export const MAX_LIMIT = 1_000_000;

const includeCosts = z
  .boolean()
  .nullish()
  .describe("Adds the cost of the call's usage as `summary.weave.costs`.");

/** Ignores unknown members, which SDKs send. */
export const streamQueryBody = z
  .object({
    project_id: projectId,
    filter: sdkFilter.nullish(),
    query: callsQuery.nullish(),
    sort_by: z
      .array(z.object({ field: z.string(), direction: z.enum(["asc", "desc"]) }))
      .max(10)
      .nullish()
      .describe(
        "Default: oldest first, by `started_at` and `id`. Ties are broken by `id`, in the direction of `started_at` if it is one of the fields, or else descending.",
      ),
    limit: z.int().min(0).max(Number.MAX_SAFE_INTEGER).nullish(),
    offset: z.int().min(0).max(Number.MAX_SAFE_INTEGER).nullish(),
    page_token: z
      .string()
      .max(MAX_TOKEN_LENGTH)
      .nullish()
      .describe(
        "The `x-next-page-token` of the previous page, with the same project, filter and query. Only for calls sorted by `started_at` alone, in either direction. New calls do not shift pages.",
      ),
    include_costs: includeCosts,
    include_feedback: z
      .boolean()
      .nullish()
      .describe("Adds the call's feedback, oldest first, as `summary.weave.feedback`."),
    columns: z
      .array(z.string())
      .max(1000)
      .nullish()
      .describe("Fields to return. Payloads without a requested field are empty."),
  })
  .meta({ id: "CallsQueryReq" });

export const queryStatsBody = z
  .object({
    project_id: projectId,
    filter: sdkFilter.nullish(),
    query: callsQuery.nullish(),
  })
  .meta({ id: "CallsQueryStatsReq" });

export const callReadBody = z
  .object({ project_id: projectId, id: z.string(), include_costs: includeCosts })
  .meta({ id: "CallReadReq" });

export const queryStatsRes = z
  .object({ count: z.int().min(0).describe("Number of matching calls") })
  .meta({ id: "CallsQueryStatsRes" });

// Used only for OpenAPI: responses are encoded as text, with payloads as stored.

const text = z.string().nullable();

const computed = z
  .looseObject({
    status: z.enum(["running", "success", "error", "descendant_error"]),
    latency_ms: z.int().nullable().describe("null while the call is running"),
    trace_name: z.string(),
    costs: z
      .record(z.string(), describedAs("LLMAggregatedUsage"))
      .optional()
      .describe("By LLM, if `include_costs` is set"),
    feedback: z.array(describedAs("Feedback")).optional().describe("If `include_feedback` is set"),
  })
  .describe("Fields computed by Sumtree");

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
    ended_at: isoInstant.nullable().describe("null while the call is running"),
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
  .meta({ id: "Call", description: "A call. Payloads that were not requested are empty." });

export const callReadRes = z
  .object({ call: call.nullable().describe("null if the call does not exist") })
  .meta({ id: "CallReadRes" });

export const fieldsQueryBody = z
  .strictObject({
    project_id: projectId,
    prefix: z.string().nullish().describe("What the paths begin with. Default: all paths"),
    start: instantMicros.nullish().describe("Inclusive `started_at` of calls. Default: all time"),
    end: instantMicros.nullish().describe("Exclusive. Default: now"),
  })
  .meta({ id: "FieldsQueryReq" });

const foundField = z
  .object({
    path: z.string().describe("As `$getField` spells it"),
    type: z.enum(FIELD_TYPES).describe("The type of the example"),
    example: z
      .union([z.string(), z.number(), z.boolean()])
      .nullable()
      .describe(`A value; text of at most ${EXAMPLE_CHARACTERS} characters, null for objects and lists`),
  })
  .meta({ id: "FoundField" });

export const fieldsQueryRes = z
  .object({
    fields: z.array(foundField).max(MAX_FIELDS).describe("Sorted by path"),
    truncated: z.boolean().describe("True if there are more fields; those of the fewest calls are left out"),
  })
  .meta({ id: "FieldsQueryRes" });
