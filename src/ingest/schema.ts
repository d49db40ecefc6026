import { z } from "zod";
import { instantMicros } from "../http/instant-field.ts";
import { isJsonObject, isTooDeep, MAX_JSON_DEPTH } from "../shared/json.ts";

/** An id as clients make them. Longer ones are a mistake. */
const anyId = z
  .string()
  .max(512)
  .transform((text) => text.toWellFormed());
const id = anyId.pipe(z.string().min(1));
/** Absent leaves what was there; null clears it, and so does ''. */
const optionalId = anyId.nullish();
const optionalText = z.string().max(10_000).nullish();

const anyPayload = z.unknown().refine((value) => !isTooDeep(value), {
  message: `Nested deeper than ${MAX_JSON_DEPTH} levels`,
  params: { type: "recursion_loop" },
});
const payload = anyPayload.optional();
const objectPayload = anyPayload
  .refine((value) => value == null || isJsonObject(value), {
    message: "Input should be an object",
    params: { type: "dict_type" },
  })
  .optional();

const step = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).nullish();

/** A call's start as the Weave SDKs send it; members that are not known are ignored. */
const startSchema = z.object({
  project_id: z.string(),
  id: id.nullish(),
  trace_id: optionalId,
  parent_id: optionalId,
  op_name: z.string().max(10_000),
  display_name: optionalText,
  started_at: instantMicros,
  thread_id: optionalId,
  turn_id: optionalId,
  wb_user_id: optionalId,
  wb_run_id: optionalId,
  wb_run_step: step,
  attributes: objectPayload,
  inputs: objectPayload,
});
export type StartMessage = z.output<typeof startSchema>;

/** A call's end as the Weave SDKs send it. */
const endSchema = z.object({
  project_id: z.string(),
  id,
  ended_at: instantMicros,
  display_name: optionalText,
  output: payload,
  summary: objectPayload,
  exception: z.string().nullish(),
});
export type EndMessage = z.output<typeof endSchema>;

/** A whole call in one message; without `ended_at` it is one that still runs. */
export const completeSchema = startSchema.extend({
  id,
  trace_id: id,
  ended_at: instantMicros.nullish(),
  output: payload,
  summary: objectPayload,
  exception: endSchema.shape.exception,
});
export type CompleteMessage = z.output<typeof completeSchema>;

/** Where the path names the project, a message need not. */
const projectOfPath = { project_id: z.string().nullish() };
export const completeOfPath = completeSchema.extend(projectOfPath);

/** Items are checked one by one, so that a bad one does not take the others with it. */
export const upsertBatchBody = z.object({ batch: z.array(z.unknown()).max(100_000) });
export const startBody = z.object({ start: startSchema });
export const endBody = z.object({ end: endSchema });
export const startBodyOfPath = z.object({ start: startSchema.extend(projectOfPath) });
export const endBodyOfPath = z.object({ end: endSchema.extend(projectOfPath) });
export const updateBody = z.object({
  project_id: z.string(),
  call_id: id,
  display_name: z.string().max(10_000).nullable(),
});
export const deleteBody = z.object({ project_id: z.string(), call_ids: z.array(id).max(10_000) });

export const upsertItem = z.discriminatedUnion("mode", [
  z.object({ mode: z.literal("start"), req: startBody }),
  z.object({ mode: z.literal("end"), req: endBody }),
]);

export const projectParams = z.object({ entity: z.string(), project: z.string() });
