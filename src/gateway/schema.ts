import { z } from "zod";

/*
 * What we check of the training API's requests. Every object is open: clients of all ages send members that this
 * page of the interface does not know, and they go upstream as they came.
 */

const wholeNumber = z.preprocess(
  (value) => (typeof value === "string" && /^-?\d{1,15}$/.test(value) ? Number(value) : value),
  z.int().min(1).max(100),
);

export const eventsQuery = z.looseObject({
  after: z.string().optional().describe("Id of the last item of the previous page; exclusive."),
  limit: wholeNumber.default(20).describe("Items per page."),
});

export const checkpointsQuery = eventsQuery.extend({ order: z.enum(["asc", "desc"]).default("asc") });

export const modelParams = z.object({ model_id: z.string() });
export const jobParams = z.object({ training_job_id: z.string() });

export const createModelBody = z.looseObject({
  project: z.string(),
  name: z.string(),
  base_model: z.string(),
  entity: z.string().nullish(),
  return_existing: z.boolean().optional(),
});

export const deleteCheckpointsBody = z.looseObject({ steps: z.array(z.int()) });

export const createSftJobBody = z.looseObject({
  model_id: z.string(),
  training_data_url: z.string(),
  config: z
    .looseObject({
      batch_size: z.union([z.int(), z.literal("auto")]).nullish(),
      learning_rate: z.union([z.number(), z.array(z.number())]).nullish(),
      metric_logging: z.looseObject({}).nullish(),
    })
    .nullish(),
  experimental_config: z.looseObject({}).nullish(),
});

/** Streamed through unread: only described. */
export const createJobBody = z.looseObject({
  model_id: z.string(),
  trajectory_groups: z.array(z.looseObject({})),
  experimental_config: z.looseObject({}).nullish(),
});

/** Streamed through unread: only described. */
export const logBody = z.looseObject({ split: z.string(), trajectory_groups: z.array(z.looseObject({})) });

/** The upstream checks it: only described. */
export const chatBody = z.looseObject({
  model: z.string(),
  messages: z.array(z.looseObject({})),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
});

const page = z.looseObject({
  object: z.string(),
  data: z.array(z.looseObject({ id: z.string() })),
  first_id: z.string(),
  last_id: z.string(),
  has_more: z.boolean(),
});

export const answers = {
  completion: z
    .looseObject({ choices: z.array(z.looseObject({})) })
    .describe("With `stream`, `text/event-stream` instead."),
  model: z.looseObject({ id: z.string(), entity: z.string(), project: z.string(), name: z.string() }),
  deletedModel: z.looseObject({
    model_id: z.string(),
    deleted_checkpoints: z.int(),
    deleted_run: z.boolean(),
  }),
  page,
  deletedCheckpoints: z.looseObject({ deleted_count: z.int(), not_found_steps: z.array(z.int()) }),
  job: z.looseObject({ id: z.string() }),
  baseModels: z.array(z.string()),
  any: z.unknown(),
  health: z.object({
    status: z.literal("ok"),
    upstreams: z.record(z.string(), z.enum(["not_configured", "configured"])),
  }),
} as const;

export const errorAnswer = z.object({
  error: z.object({
    message: z.string(),
    type: z.string(),
    param: z.string().nullable(),
    code: z.union([z.string(), z.number()]).nullable(),
  }),
  detail: z.union([
    z.string(),
    z.array(z.object({ loc: z.array(z.union([z.string(), z.int()])), msg: z.string(), type: z.string() })),
  ]),
});
