import { z } from "zod";
import { isGatewayId } from "../calls/events/gateway-id.ts";
import { describedAs, instantMicros, projectId } from "../http/schemas/fields.ts";
import { emptyRes, itemError, rejectedItems } from "../http/schemas/response-schema.ts";
import { isJsonObject, isTooDeep, MAX_JSON_DEPTH } from "../shared/json.ts";

/** Client-generated id. */
const anyId = z
  .string()
  .max(512)
  .transform((text) => text.toWellFormed());
const id = anyId.pipe(z.string().min(1));
/** Client-owned call id: messages cannot change calls recorded by the gateway. */
const ownId = id.refine((text) => !isGatewayId(text), {
  message: "Input should not be the id of a call that the gateway records",
});
/** Absent leaves the stored value; null and '' clear it. */
const optionalId = anyId.nullish();
const optionalText = z.string().max(10_000).nullish();

const anyPayload = z.unknown().refine((value) => !isTooDeep(value), {
  message: `Nested deeper than ${MAX_JSON_DEPTH} levels`,
  params: { type: "recursion_loop" },
});
const payload = anyPayload.meta({ description: "JSON of any kind" }).optional();
const objectPayload = (description: string) =>
  anyPayload
    .refine((value) => value == null || isJsonObject(value), {
      message: "Input should be an object",
      params: { type: "dict_type" },
    })
    .meta({ type: ["object", "null"], additionalProperties: true, description })
    .optional();
const summary = objectPayload("JSON; `usage` contains the call's usage by LLM");

const step = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).nullish();

/** A call's start as the Weave SDKs send it; unknown members are ignored. */
const startShape = {
  project_id: projectId,
  id: ownId.nullish().describe("Default: a new id"),
  trace_id: optionalId.describe("Default: a new trace"),
  parent_id: optionalId.describe("The id of the parent call"),
  op_name: z.string().max(10_000),
  display_name: optionalText,
  started_at: instantMicros,
  thread_id: optionalId,
  turn_id: optionalId,
  wb_user_id: optionalId,
  wb_run_id: optionalId,
  wb_run_step: step,
  attributes: objectPayload("The attributes of the call: JSON by name"),
  inputs: objectPayload("The inputs of the call: JSON by name"),
};
const startSchema = z.object(startShape).meta({ id: "CallStart" });
export type StartMessage = z.output<typeof startSchema>;

/** A call's end as the Weave SDKs send it. */
const endShape = {
  project_id: projectId,
  id: ownId,
  ended_at: instantMicros,
  display_name: optionalText,
  output: payload,
  summary,
  exception: z.string().nullish().describe("The error that ended the call"),
};
const endSchema = z.object(endShape).meta({ id: "CallEnd" });
export type EndMessage = z.output<typeof endSchema>;

/** A complete call in one message; without `ended_at`, the call is still running. */
export const completeSchema = z.object({
  ...startShape,
  id: ownId,
  trace_id: id,
  ended_at: instantMicros.nullish().describe("Not set: the call is still running"),
  output: payload,
  summary,
  exception: endShape.exception,
});
export type CompleteMessage = z.output<typeof completeSchema>;

/** Optional project for routes whose path names it. */
const projectOfPath = { project_id: projectId.nullish().describe("Default: the project of the path") };
export const completeOfPath = completeSchema.extend(projectOfPath).meta({ id: "CallComplete" });

const MAX_ITEMS = 100_000;
export const startBody = z.object({ start: startSchema }).meta({ id: "CallStartReq" });
export const endBody = z.object({ end: endSchema }).meta({ id: "CallEndReq" });
export const startBodyOfPath = z
  .object({ start: startSchema.extend(projectOfPath) })
  .meta({ id: "CallStartOfPathReq" });
export const endBodyOfPath = z
  .object({ end: endSchema.extend(projectOfPath) })
  .meta({ id: "CallEndOfPathReq" });
export const updateBody = z
  .object({
    project_id: projectId,
    call_id: id,
    display_name: z.string().max(10_000).nullable().describe("null: removes the display name"),
  })
  .meta({ id: "CallUpdateReq" });
export const deleteBody = z
  .object({ project_id: projectId, call_ids: z.array(id).max(10_000) })
  .meta({ id: "CallsDeleteReq" });

export const upsertItem = z.discriminatedUnion("mode", [
  z.object({ mode: z.literal("start"), req: startBody }).meta({ id: "CallBatchStart" }),
  z.object({ mode: z.literal("end"), req: endBody }).meta({ id: "CallBatchEnd" }),
]);
export const upsertBatchBody = z
  .object({ batch: z.array(describedAs("CallBatchStart", "CallBatchEnd")).max(MAX_ITEMS) })
  .meta({ id: "CallUpsertBatchReq" });
export const completeBatchBody = z
  .object({ batch: z.array(describedAs("CallComplete")).max(MAX_ITEMS) })
  .meta({ id: "CallsCompleteReq" });

export const startRes = z.object({ id: z.string(), trace_id: z.string() }).meta({ id: "CallStartRes" });
/** OpenAPI only: the route serializes its response itself. */
export const upsertBatchRes = z
  .object({
    res: z
      .array(z.union([startRes, emptyRes, itemError]))
      .describe("One per item, in the order of the batch"),
    rejected: rejectedItems,
  })
  .meta({ id: "CallUpsertBatchRes" });
export const completeBatchRes = z.object({ rejected: rejectedItems }).meta({ id: "CallsCompleteRes" });
export const deleteRes = z
  .object({
    num_deleted: z.int().min(0).describe("The number of deleted calls, descendants included"),
    deletion_id: z.string().describe("For `GET /deletions/{id}`, which reports the progress"),
  })
  .meta({ id: "CallsDeleteRes" });

export const projectParams = z.object({ entity: z.string(), project: z.string() });
