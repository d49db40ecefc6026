import { z } from "zod";
import { instantMs } from "../http/instant-field.ts";
import { purgeQuery } from "../http/purge-by-id.ts";
import { isJsonObject, isTooDeep, MAX_JSON_DEPTH } from "../shared/json.ts";
import type { Payload } from "./payload.ts";

const id = z
  .string()
  .min(1)
  .max(512)
  .transform((text) => text.toWellFormed());
/** A reference is stored as it is sent, whether or not it leads anywhere. */
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
  .transform((value) => value as Payload);

const scorerMember = z
  .unknown()
  .refine((value) => !isTooDeep(value), {
    message: `Nested deeper than ${MAX_JSON_DEPTH} levels`,
    params: { type: "recursion_loop" },
  })
  .optional();
/** What scorers send beside the payload. Kept as it is sent. */
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

/** `POST /feedback/create`. Members that are not known are ignored. */
export const createBody = z.object({
  project_id: z.string(),
  id: id.nullish().describe("Sent again under the same id, a feedback is replaced and keeps its time"),
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
  created_at: instantMs.nullish().describe("For keys of scope admin. Default: now"),
  ...scorerShape,
});
export type FeedbackMessage = z.output<typeof createBody>;

export const replaceBody = createBody.extend({ feedback_id: id });

/** Items are checked one by one, so that a bad one does not take the others with it. */
export const batchBody = z.object({ batch: z.array(z.unknown()).max(100_000) });

export const purgeBody = z.object({ project_id: z.string(), query: purgeQuery });
