import type { FastifySchema } from "fastify";
import { z } from "zod";
import { jsonResponse } from "../http/openapi/shared-responses.ts";

/** Route schema with the success response only. */
export interface RouteSchema extends Omit<FastifySchema, "body" | "response"> {
  readonly body?: z.ZodType;
  readonly response: z.ZodType;
}

/*
 * Validated parts of training requests. Every object is open: unknown members of any client version are relayed unchanged.
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

export const createModelBody = z
  .looseObject({
    project: z.string(),
    name: z.string(),
    base_model: z.string(),
    entity: z.string().nullish(),
    return_existing: z.boolean().optional(),
  })
  .meta({ id: "ModelCreateReq" });

export const deleteCheckpointsBody = z
  .looseObject({ steps: z.array(z.int()) })
  .meta({ id: "CheckpointsDeleteReq" });

export const createSftJobBody = z
  .looseObject({
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
  })
  .meta({ id: "SftTrainingJobCreateReq" });

const trajectoryGroups = z.array(z.looseObject({}).meta({ id: "TrajectoryGroup" }));

/** Described only: streamed unread. */
export const createJobBody = z
  .looseObject({
    model_id: z.string(),
    trajectory_groups: trajectoryGroups,
    experimental_config: z.looseObject({}).nullish(),
  })
  .meta({ id: "TrainingJobCreateReq" });

export const logBody = z
  .looseObject({ split: z.string(), trajectory_groups: trajectoryGroups })
  .meta({ id: "ModelLogReq" });

const message = z.looseObject({ role: z.string() }).meta({ id: "ChatMessage" });

/** Described only: the upstream validates it. */
export const chatBody = z
  .looseObject({
    model: z.string(),
    messages: z.array(message),
    stream: z.boolean().nullish(),
    stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  })
  .meta({ id: "ChatCompletionReq" });

/** Described only: each endpoint accepts its provider's members. */
export const modelBody = z.looseObject({ model: z.string() }).meta({ id: "ModelReq" });

const usage = z.looseObject({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
});

function pageOf(item: z.ZodType, id: string) {
  const shape = {
    object: z.string(),
    data: z.array(item),
    first_id: z.string(),
    last_id: z.string(),
    has_more: z.boolean(),
  };
  return z.looseObject(shape).meta({ id });
}

const checkpoint = z
  .looseObject({ id: z.string(), step: z.int(), metrics: z.looseObject({}).optional() })
  .meta({ id: "Checkpoint" });
const event = z
  .looseObject({ id: z.string(), type: z.string(), data: z.looseObject({}).optional() })
  .meta({ id: "TrainingJobEvent" });

export const responses = {
  completion: z
    .looseObject({
      choices: z.array(z.looseObject({ message: message.nullish(), finish_reason: z.string().nullish() })),
      usage: usage.nullish(),
    })
    .meta({ id: "ChatCompletionRes" }),
  answer: z.looseObject({ usage: z.looseObject({}).nullish() }).meta({ id: "ModelAnswerRes" }),
  model: z
    .looseObject({ id: z.string(), entity: z.string(), project: z.string(), name: z.string() })
    .meta({ id: "ModelRes" }),
  deletedModel: z
    .looseObject({ model_id: z.string(), deleted_checkpoints: z.int(), deleted_run: z.boolean() })
    .meta({ id: "ModelDeleteRes" }),
  checkpoints: pageOf(checkpoint, "CheckpointListRes"),
  events: pageOf(event, "TrainingJobEventListRes"),
  deletedCheckpoints: z
    .looseObject({ deleted_count: z.int(), not_found_steps: z.array(z.int()) })
    .meta({ id: "CheckpointsDeleteRes" }),
  job: z.looseObject({ id: z.string() }).meta({ id: "TrainingJobRes" }),
  baseModels: z.array(z.string()).meta({ id: "BaseModelListRes" }),
  log: z.unknown().meta({ id: "ModelLogRes", description: "Anything that the training service returns" }),
  systemCheck: z
    .unknown()
    .meta({ id: "SystemCheckRes", description: "Any JSON that the training service returns" }),
  health: z
    .object({
      status: z.literal("ok"),
      upstreams: z.record(z.string(), z.enum(["not_configured", "configured"])),
    })
    .meta({ id: "GatewayHealthRes" }),
} as const;

const issue = z.looseObject({
  loc: z.array(z.union([z.string(), z.int()])),
  msg: z.string(),
  type: z.string(),
});

/** Described only: upstream errors may have members besides `error`. */
export const errorResponse = z
  .looseObject({
    error: z.looseObject({
      message: z.string(),
      type: z.string().nullable(),
      param: z.string().nullable(),
      code: z.union([z.string(), z.number()]).nullable(),
    }),
    detail: z.union([z.string(), z.array(issue)]).optional(),
  })
  .meta({ id: "GatewayErrorRes" });

const notConfigured = "No training upstream is configured: set TRAINING_UPSTREAM_URL.";

/** Error response of all gateway routes, by its name in `openapi.json`. */
export const gatewayErrors = {
  GatewayError: jsonResponse("An error of the gateway or its upstream, in the format OpenAI SDKs read", {
    schema: "GatewayErrorRes",
    headers: ["retry-after"],
    example: {
      error: { message: notConfigured, type: "api_error", param: null, code: "upstream_not_configured" },
      detail: notConfigured,
    },
  }),
};
