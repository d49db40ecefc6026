import type { JobKind } from "../training-jobs/job.ts";
import * as schema from "./schema.ts";

interface TrainingText extends schema.RouteSchema {
  /** `typed` bodies are validated; `streamed` ones are large and relayed as they arrive. */
  readonly takes?: "typed" | "streamed";
  /** The response is that of something new, which the ledger gives to the project. */
  readonly creates?: boolean;
  readonly needsModel?: boolean;
  readonly job?: JobKind;
}

export const RELAYED = "Relays the request to the training service and returns its response unchanged.";

const model = "/preview/models/:model_id";
const jobPath = "/preview/training-jobs/:training_job_id";
const { responses } = schema;

const model_id = "0198f5e2-0000-7000-8000-0000000000d1";
const aJob = { id: "0198f5e2-0000-7000-8000-0000000000e1" };
const trajectory = { trajectories: [{ messages_and_choices: [], reward: 1 }] };
const modelNames = { entity: "acme", project: "demo", name: "assistant", base_model: "Qwen/Qwen3-14B" };
const pageOf = (item: { readonly id: string; readonly [member: string]: unknown }) => ({
  object: "list",
  data: [item],
  first_id: item.id,
  last_id: item.id,
  has_more: false,
});

const route = (
  method: "GET" | "POST" | "DELETE",
  path: string,
  { takes: body, creates, needsModel, job, ...text }: TrainingText,
) => ({ method, path, body, creates, needsModel, job, schema: text });

/** Route of the training API. */
export type TypedRoute = ReturnType<typeof route>;

export const typedRoutes: readonly TypedRoute[] = [
  route("POST", "/preview/models", {
    takes: "typed",
    creates: true,
    operationId: "createModel",
    summary: "Create a model",
    success: "The model",
    example: { request: modelNames, response: { id: model_id, ...modelNames } },
    body: schema.createModelBody,
    response: responses.model,
  }),
  route("DELETE", model, {
    operationId: "deleteModel",
    summary: "Delete a model",
    success: "Counts of the deleted checkpoints and run",
    example: { response: { model_id, deleted_checkpoints: 3, deleted_run: true } },
    params: schema.modelParams,
    response: responses.deletedModel,
  }),
  route("GET", `${model}/checkpoints`, {
    operationId: "listCheckpoints",
    summary: "List checkpoints of a model",
    success: "A page of checkpoints",
    example: { response: pageOf({ ...aJob, step: 1, metrics: { reward: 0.7 } }) },
    params: schema.modelParams,
    querystring: schema.checkpointsQuery,
    response: responses.checkpoints,
  }),
  route("DELETE", `${model}/checkpoints`, {
    takes: "typed",
    operationId: "deleteCheckpoints",
    summary: "Delete checkpoints of a model",
    success: "The deleted steps, and the unknown ones",
    example: { request: { steps: [1, 2] }, response: { deleted_count: 1, not_found_steps: [2] } },
    params: schema.modelParams,
    body: schema.deleteCheckpointsBody,
    response: responses.deletedCheckpoints,
  }),
  route("POST", `${model}/log`, {
    takes: "streamed",
    operationId: "logTrajectories",
    summary: "Record a log for a model",
    success: "The response of the training service",
    example: { request: { split: "train", trajectory_groups: [trajectory] }, response: null },
    params: schema.modelParams,
    body: schema.logBody,
    response: responses.log,
  }),
  route("POST", "/preview/sft-training-jobs", {
    takes: "typed",
    creates: true,
    job: "sft",
    operationId: "createSftTrainingJob",
    summary: "Create an SFT training job",
    success: "The job",
    example: {
      request: { model_id, training_data_url: "wandb-artifact:///acme/demo/data:v0" },
      response: aJob,
    },
    body: schema.createSftJobBody,
    response: responses.job,
  }),
  route("POST", "/preview/training-jobs", {
    takes: "streamed",
    creates: true,
    needsModel: true,
    job: "rl",
    operationId: "createTrainingJob",
    summary: "Create an RL training job",
    success: "The job",
    example: { request: { model_id, trajectory_groups: [trajectory] }, response: aJob },
    body: schema.createJobBody,
    response: responses.job,
  }),
  route("GET", jobPath, {
    operationId: "getTrainingJob",
    summary: "Get a training job",
    success: "The job",
    example: { response: { ...aJob, status: "running" } },
    params: schema.jobParams,
    response: responses.job,
  }),
  route("GET", `${jobPath}/events`, {
    operationId: "listTrainingJobEvents",
    summary: "Get the events of a training job",
    success: "A page of events",
    example: {
      response: pageOf({ id: model_id, type: "training_started", data: { num_sequential_calls: 4 } }),
    },
    params: schema.jobParams,
    querystring: schema.eventsQuery,
    response: responses.events,
  }),
  route("GET", "/preview/base-models", {
    operationId: "listBaseModels",
    summary: "List base models",
    success: "The names of the models",
    example: { response: ["Qwen/Qwen3-14B"] },
    response: responses.baseModels,
  }),
  route("GET", "/system-check", {
    operationId: "systemCheck",
    summary: "Check the training service",
    description: `${RELAYED} It may be slow.`,
    success: "The response of the training service",
    example: { response: { api: true, database: true } },
    response: responses.systemCheck,
  }),
];
