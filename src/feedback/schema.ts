import { z } from "zod";
import { describedAs, instantMicros, projectId } from "../http/schemas/fields.ts";
import { purgeQuery } from "../http/schemas/purge-by-id.ts";
import { isJsonObject, isTooDeep, MAX_JSON_DEPTH } from "../shared/json.ts";
import type { Payload } from "./payload.ts";

const id = z
  .string()
  .min(1)
  .max(512)
  .transform((text) => text.toWellFormed());
/** Reference, stored as sent: its target does not have to exist. */
const ref = z
  .string()
  .max(10_000)
  .transform((text) => text.toWellFormed());
const optionalText = ref.nullish().transform((text) => text ?? null);

const payload = z
  .unknown()
  .refine((value) => value !== undefined, {
    message: "Field required",
    params: { type: "missing" },
    abort: true,
  })
  .refine(isJsonObject, { message: "Input should be an object", params: { type: "dict_type" } })
  .meta({ type: "object", additionalProperties: true, description: "JSON" })
  .transform((value) => value as Payload);

const scorerMember = z
  .unknown()
  .refine((value) => !isTooDeep(value), {
    message: `Nested deeper than ${MAX_JSON_DEPTH} levels`,
    params: { type: "recursion_loop" },
  })
  .meta({ description: "JSON of any kind" })
  .optional();
/** Scorer members besides the payload, stored as sent. */
const scorerShape = {
  scorer_tags: scorerMember,
  scorer_tag_reasons: scorerMember,
  scorer_tag_confidences: scorerMember,
  scorer_ratings: scorerMember,
  scorer_rating_reasons: scorerMember,
  scorer_rating_confidences: scorerMember,
  scorer_trace_id: scorerMember,
  span_agent_name: scorerMember,
  span_agent_version: scorerMember,
  span_status_code: scorerMember,
  span_conversation_id: scorerMember,
  span_trace_id: scorerMember,
};
export const scorerMembers = Object.keys(scorerShape) as (keyof typeof scorerShape)[];

/** `POST /feedback/create`. Unknown members are ignored. */
const createShape = {
  project_id: projectId,
  id: id.nullish().describe("Feedback with an existing id replaces it and keeps its time"),
  weave_ref: ref.pipe(z.string().min(1)),
  feedback_type: ref.pipe(z.string().min(1).max(512)),
  payload,
  creator: optionalText,
  annotation_ref: optionalText,
  runnable_ref: optionalText,
  call_ref: optionalText,
  trigger_ref: optionalText,
  queue_id: optionalText,
  wb_user_id: optionalText,
  created_at: instantMicros.nullish().describe("Requires the scope admin. Default: now"),
  ...scorerShape,
};
export const createBody = z.object(createShape).meta({ id: "FeedbackCreateReq" });
export type FeedbackMessage = z.output<typeof createBody>;

export const replaceBody = z
  .object({ ...createShape, feedback_id: id.describe("The id of the feedback to replace") })
  .meta({ id: "FeedbackReplaceReq" });

export const batchBody = z
  .object({ batch: z.array(describedAs("FeedbackCreateReq")).max(100_000) })
  .meta({ id: "FeedbackCreateBatchReq" });

export const purgeBody = z
  .object({ project_id: projectId, query: purgeQuery })
  .meta({ id: "FeedbackPurgeReq" });
