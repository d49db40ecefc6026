import { z } from "zod";
import { isoInstant } from "../http/schemas/fields.ts";
import { itemError, jsonObject, rejectedItems } from "../http/schemas/response-schema.ts";
import type { ListField } from "./list-schema.ts";
import { scorerMembers } from "./schema.ts";

// OpenAPI only: the routes serialize their responses themselves, because stored payloads are JSON already.

const payload = jsonObject;

export const createRes = z
  .object({ id: z.string(), created_at: isoInstant, wb_user_id: z.string(), payload })
  .meta({ id: "FeedbackCreateRes" });

export const batchRes = z
  .object({
    res: z.array(z.union([createRes, itemError])).describe("One per item, in the order of the batch"),
    rejected: rejectedItems,
  })
  .meta({ id: "FeedbackCreateBatchRes" });

const text = z.string().nullable();
const listed = z
  .object({
    id: z.string(),
    project_id: z.string(),
    weave_ref: z.string(),
    feedback_type: z.string(),
    creator: text,
    wb_user_id: z.string(),
    created_at: isoInstant,
    payload,
    annotation_ref: text,
    runnable_ref: text,
    call_ref: text,
    trigger_ref: text,
    queue_id: text,
  } satisfies Record<ListField, z.ZodType>)
  .extend(Object.fromEntries(scorerMembers.map((name) => [name, z.unknown()])))
  .partial()
  .meta({ id: "Feedback", description: "The requested fields; those of the scorer only if it sent them" });

export const listRes = z.object({ result: z.array(listed) }).meta({ id: "FeedbackQueryRes" });
