import { z } from "zod";
import { knownMembers, oneOfNames } from "../http/schemas/known-names.ts";
import { whenValid } from "../http/schemas/zod-issues.ts";
import {
  countIndexSteps,
  MAX_INDEX_STEPS,
  MAX_PATH_CHARS,
  MAX_PATH_SEGMENTS,
  splitFieldName,
} from "../query/fields/json-path.ts";

/** Path of a value in the payload of a feedback: keys and array indices joined by dots. */
export const payloadPath = z
  .string()
  .max(MAX_PATH_CHARS)
  .refine((path) => path.trim() !== "", { error: "A path cannot be blank", abort: true })
  .refine((path) => !path.split(".").includes(""), {
    error: "A path cannot have an empty segment",
    abort: true,
  })
  .refine(
    (path) => path.split(".").length <= MAX_PATH_SEGMENTS,
    `A path may have at most ${MAX_PATH_SEGMENTS} segments`,
  );

const OPERATORS = ["$eq", "$gt", "$gte", "$lt", "$lte", "$in", "$contains"] as const;
const MAX_TEXT_CHARS = 4096;
const MAX_LISTED = 100;

const scalar = z.union([z.string().max(MAX_TEXT_CHARS), z.number(), z.boolean()]);

const valueOfOperator = z.superRefine<{ op: string; value: unknown }>(
  ({ op, value }, context) => {
    const refuse = (message: string, type: string): void =>
      context.addIssue({ code: "custom", path: ["value"], message, params: { type } });
    if (op === "$in" && !Array.isArray(value)) refuse("$in takes a list of values", "list_type");
    if (op !== "$in" && Array.isArray(value)) refuse(`${op} takes a single value`, "scalar_type");
    if (op === "$contains" && !Array.isArray(value) && typeof value !== "string")
      refuse("$contains takes text", "string_type");
  },
  whenValid("op", "value"),
);

/** Condition on the rating of a call: on a value in the payload of its feedback. */
export const ratingCondition = knownMembers({
  feedback_type: z.string().nullish().describe("Default: feedback of any type"),
  json_path: payloadPath
    .refine(
      (path) => countIndexSteps(splitFieldName(path)) <= MAX_INDEX_STEPS,
      `A path has at most ${MAX_INDEX_STEPS} steps that look like integers`,
    )
    .describe("Path of the rating in the payload: keys and array indices joined by dots"),
  op: oneOfNames(OPERATORS).describe("As in `$expr`"),
  value: z
    .union([scalar, z.array(scalar).min(1).max(MAX_LISTED)])
    .describe("A list for `$in`, text for `$contains`, a single value for the others"),
})
  .check(valueOfOperator)
  .meta({
    id: "RatingCondition",
    description:
      "A call is rated by the latest feedback on it (by `created_at`, then `id`) that has a value at `json_path`. " +
      "It passes if that value meets the condition, as in `$expr`",
  });

export type RatingCondition = z.output<typeof ratingCondition>;
