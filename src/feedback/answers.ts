import { z } from "zod";
import type { ListField } from "./list-schema.ts";

// Described, not used: the texts are written by hand, because stored payloads are JSON already.

const payload = z.record(z.string(), z.unknown());

export const createAnswer = z
  .object({ id: z.string(), created_at: z.string(), wb_user_id: z.string(), payload })
  .meta({ id: "FeedbackCreateRes" });

const detail = z.union([
  z.string(),
  z.array(z.object({ loc: z.array(z.union([z.string(), z.int()])), msg: z.string(), type: z.string() })),
]);

export const batchAnswer = z
  .object({
    res: z
      .array(z.union([createAnswer, z.object({ error: detail })]))
      .describe("One per item, in the order of the batch"),
    rejected: z.array(z.object({ index: z.int(), detail })).describe("The items that were set aside"),
  })
  .meta({ id: "FeedbackCreateBatchRes" });

const text = z.string().nullable();
const listed = z.object({
  id: z.string(),
  project_id: z.string(),
  weave_ref: z.string(),
  feedback_type: z.string(),
  creator: text,
  wb_user_id: z.string(),
  created_at: z.string(),
  payload,
  annotation_ref: text,
  runnable_ref: text,
  call_ref: text,
  trigger_ref: text,
  queue_id: text,
} satisfies Record<ListField, z.ZodType>);

export const listAnswer = z
  .object({ result: z.array(listed.partial()).describe("With the fields that were asked for") })
  .meta({ id: "FeedbackQueryRes" });

export const purgeAnswer = z.object({}).meta({ id: "FeedbackPurgeRes" });
