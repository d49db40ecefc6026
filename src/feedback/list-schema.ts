import { z } from "zod";
import { projectId } from "../http/schemas/fields.ts";
import { wholeNumber } from "../http/schemas/zod-issues.ts";
import { feedbackQuery } from "../query/read/wire-schema.ts";
import { scorerMembers } from "./schema.ts";

/** Fields of feedback that a query can use, besides those of its scorer. */
export const listFields = [
  "id",
  "project_id",
  "weave_ref",
  "feedback_type",
  "creator",
  "wb_user_id",
  "created_at",
  "payload",
  "annotation_ref",
  "runnable_ref",
  "call_ref",
  "trigger_ref",
  "queue_id",
] as const;
export type ListField = (typeof listFields)[number];

export const DEFAULT_LIMIT = 1000;
export const MAX_LIMIT = 10_000;

const sortBy = z.object({
  field: z.enum(listFields).exclude(["payload"]),
  direction: z.enum(["asc", "desc"]),
});

/** `POST /feedback/query`. Unknown members are ignored. */
const queryShape = {
  project_id: projectId,
  fields: z
    .array(z.enum([...listFields, ...scorerMembers]))
    .max(100)
    .nullish()
    .describe("Default: all"),
  query: feedbackQuery().nullish(),
  sort_by: z.array(sortBy).max(listFields.length).nullish().describe("Default: sorted by time"),
  limit: wholeNumber().min(0).max(MAX_LIMIT).nullish().describe(`Default: ${DEFAULT_LIMIT}`),
  offset: wholeNumber().min(0).max(1_000_000_000).nullish(),
};
export const queryBody = z.object(queryShape).meta({ id: "FeedbackQueryReq" });
export type ListRequest = z.output<typeof queryBody>;
