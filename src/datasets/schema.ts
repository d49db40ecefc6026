import { z } from "zod";
import { isoInstant, projectId } from "../http/schemas/fields.ts";
import { knownMembers, oneOfNames } from "../http/schemas/known-names.ts";
import { jsonObject } from "../http/schemas/response-schema.ts";
import { whenValid } from "../http/schemas/zod-issues.ts";
import { callsFilter, callsQuery } from "../query/read/wire-schema.ts";
import { ratingCondition } from "../ratings/schema.ts";
import { HELD_OUT, REASONS } from "./reasons.ts";

/** Maximum calls that an export selects. */
export const MAX_SELECTED = 1_000_000;
export const MAX_LISTED = 1000;
const MAX_TOKEN_LENGTH = 2000;

const FORMATS = ["chat", "preference", "trajectories"] as const;
const ONLY = ["last_of_thread", "leaves", "roots"] as const;

const needsFeedback = z.superRefine<{ format: string; feedback?: unknown }>(
  ({ format, feedback }, context) => {
    if (format === "chat" || feedback != null) return;
    const message = `The format ${format} needs a condition on feedback`;
    context.addIssue({ code: "custom", path: ["feedback"], message, params: { type: "missing" } });
  },
  whenValid("format"),
);

export const exportRequest = knownMembers({
  project_id: projectId,
  filter: callsFilter.nullish(),
  query: callsQuery.nullish(),
  feedback: ratingCondition
    .nullish()
    .describe(
      "Selects the calls that pass; for `preference` all rated calls, of which the passing are chosen",
    ),
  format: oneOfNames(FORMATS),
  only: oneOfNames(ONLY)
    .nullish()
    .describe(
      "`roots`: calls without parent, `leaves`: without children, `last_of_thread`: the last example of each thread",
    ),
  dedupe: z.boolean().nullish().describe("Exports equal lines once"),
  seed: z.int().nullish().describe("Of the holdout. Default: 0"),
  holdout: z
    .number()
    .min(0)
    .max(1)
    .nullish()
    .describe(
      "Part of the traces that is left out, for evaluation; drawn by `seed` and trace id. Default: 0",
    ),
  limit: z.int().min(1).max(MAX_SELECTED).nullish().describe("Maximum number of lines"),
})
  .check(needsFeedback)
  .meta({ id: "DatasetExportReq" });

/** Request of an export without its project. */
export type ExportQuestion = Omit<z.output<typeof exportRequest>, "project_id">;

const messages = z.array(jsonObject).describe("Messages of OpenAI's chat");

/** A line, for `openapi.json`: lines are encoded as text. */
export const exportLine = z
  .object({
    messages: messages.optional(),
    prompt: messages.optional(),
    chosen: messages.optional(),
    rejected: messages.optional(),
    messages_and_choices: messages.optional(),
    tools: z.array(jsonObject).optional(),
    reward: z.number().optional(),
    metrics: jsonObject.optional(),
    metadata: jsonObject.optional(),
  })
  .meta({ id: "DatasetLine", description: "By format: a chat, a preference or a trajectory" });

export const listRequest = knownMembers({
  project_id: projectId,
  export_id: z.string().max(64).nullish().describe("Returns this export with its calls"),
  limit: z.int().min(1).max(MAX_LISTED).nullish().describe("Maximum exports, or calls of one. Default: 100"),
  page_token: z.string().max(MAX_TOKEN_LENGTH).nullish().describe("`next_page_token` of the page before"),
}).meta({ id: "DatasetQueryReq" });

const count = z.int().min(0);
const reason = z.enum([...REASONS, HELD_OUT]);

const manifest = z
  .object({
    id: z.string(),
    created_at: isoInstant,
    created_by: z.string().describe("API key that exported it"),
    question: jsonObject.describe("The request without its project"),
    format: z.enum(FORMATS),
    counts: z.object({
      selected: count.describe("`exported` + `held_out` + all of `left_out`"),
      exported: count.describe("Calls; a preference has two"),
      held_out: count,
      left_out: z.record(z.string(), count).describe("By reason"),
    }),
    sha256: z.string().describe("Of the lines"),
    bytes: count,
    lines: count,
  })
  .meta({ id: "DatasetExport" });

const exportedCall = z
  .object({
    trace_id: z.string(),
    call_id: z.string(),
    line: z.int().min(1).nullable().describe("From 1; null if the call is left out"),
    reason: reason.nullable(),
  })
  .meta({ id: "DatasetCall" });

export const listResponse = z
  .object({
    exports: z.array(manifest).describe("The latest first"),
    calls: z.array(exportedCall).optional().describe("With `export_id`: in the order of the selection"),
    next_page_token: z.string().nullable(),
  })
  .meta({ id: "DatasetQueryRes" });

export type Manifest = z.input<typeof manifest>;
export type ExportedCall = z.input<typeof exportedCall>;
