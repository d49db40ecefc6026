import type { z } from "zod";
import * as schema from "./schema.ts";

/** A route of the training API. */
export interface TypedRoute {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly summary: string;
  readonly response: z.ZodType;
  readonly params?: z.ZodType;
  readonly query?: z.ZodType;
  /** `typed` bodies are checked; `streamed` ones are large and pass unread. */
  readonly body?: { readonly kind: "typed" | "streamed"; readonly schema: z.ZodType };
}

const model = "/preview/models/:model_id";
const job = "/preview/training-jobs/:training_job_id";
const { responses } = schema;

export const typedRoutes: readonly TypedRoute[] = [
  {
    method: "POST",
    path: "/preview/models",
    summary: "Create a model",
    response: responses.model,
    body: { kind: "typed", schema: schema.createModelBody },
  },
  {
    method: "DELETE",
    path: model,
    summary: "Delete a model",
    response: responses.deletedModel,
    params: schema.modelParams,
  },
  {
    method: "GET",
    path: `${model}/checkpoints`,
    summary: "List checkpoints of a model",
    response: responses.checkpoints,
    params: schema.modelParams,
    query: schema.checkpointsQuery,
  },
  {
    method: "DELETE",
    path: `${model}/checkpoints`,
    summary: "Delete checkpoints of a model",
    response: responses.deletedCheckpoints,
    params: schema.modelParams,
    body: { kind: "typed", schema: schema.deleteCheckpointsBody },
  },
  {
    method: "POST",
    path: `${model}/log`,
    summary: "Record a log for a model",
    response: responses.log,
    params: schema.modelParams,
    body: { kind: "streamed", schema: schema.logBody },
  },
  {
    method: "POST",
    path: "/preview/sft-training-jobs",
    summary: "Create an SFT training job",
    response: responses.job,
    body: { kind: "typed", schema: schema.createSftJobBody },
  },
  {
    method: "POST",
    path: "/preview/training-jobs",
    summary: "Create an RL training job",
    response: responses.job,
    body: { kind: "streamed", schema: schema.createJobBody },
  },
  {
    method: "GET",
    path: job,
    summary: "Get a training job",
    response: responses.job,
    params: schema.jobParams,
  },
  {
    method: "GET",
    path: `${job}/events`,
    summary: "Get the events of a training job",
    response: responses.events,
    params: schema.jobParams,
    query: schema.eventsQuery,
  },
  {
    method: "GET",
    path: "/preview/base-models",
    summary: "List base models",
    response: responses.baseModels,
  },
  {
    method: "GET",
    path: "/system-check",
    summary: "Check the training service",
    response: responses.systemCheck,
  },
];
