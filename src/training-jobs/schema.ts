import { z } from "zod";
import { projectId, isoInstant, anyInteger } from "../http/schemas/fields.ts";
import { knownMembers, oneOfNames } from "../http/schemas/known-names.ts";
import { jsonObject } from "../http/schemas/response-schema.ts";
import { wholeNumber } from "../http/schemas/zod-issues.ts";
import { KINDS, STATUSES } from "./job.ts";

const MAX_PAGE = 1000;
const MAX_CHARS = 2048;

export const queryBody = knownMembers({
  project_id: projectId,
  kind: oneOfNames(KINDS).nullish(),
  status: oneOfNames(STATUSES).nullish(),
  base_model: z.string().max(MAX_CHARS).nullish(),
  limit: wholeNumber().min(1).max(MAX_PAGE).nullish().describe("Default: 100"),
  page_token: z.string().max(MAX_CHARS).nullish().describe("`next_page_token` of the page before"),
}).meta({ id: "TrainingJobsQueryReq" });

const text = z.string().nullable();
const checkpoint = z.object({ id: z.string(), step: z.int(), llm: text });
const job = z
  .object({
    id: z.string().describe("The training service's; of an upload that became no job, one of its own"),
    kind: z.enum(KINDS),
    base_model: text,
    output_model: text.describe("`entity/project/name`"),
    model_id: text,
    status: z.enum(STATUSES),
    error: text,
    forgotten: z.boolean().describe("The training service does not know the job any more"),
    created_at: isoInstant,
    ended_at: isoInstant.nullable(),
    created_by: z.object({ api_key: z.string().describe("Id of the key"), svc_user_id: text }),
    request: jsonObject.describe("Members of the request, without the data"),
    dataset: z
      .object({ sha256: z.string(), bytes: anyInteger, lines: anyInteger.nullable(), export_id: text })
      .describe("What was seen of the uploaded body; `lines` is null if it was compressed"),
    metrics: z.record(z.string(), z.number()).describe("Last value by name"),
    checkpoints: z.array(checkpoint),
    stated_cost: z.number().nullable().describe("USD, if the training service states it"),
  })
  .meta({ id: "TrainingJob" });

export const queryRes = z
  .object({ jobs: z.array(job), next_page_token: text })
  .meta({ id: "TrainingJobsQueryRes" });

export type ShownTrainingJob = z.infer<typeof job>;
