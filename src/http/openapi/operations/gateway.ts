import type { Operations } from "../operation.ts";

const model_id = "0198f5e2-0000-7000-8000-0000000000d1";
const job = { id: "0198f5e2-0000-7000-8000-0000000000e1" };
const trajectory = { trajectories: [{ messages_and_choices: [], reward: 1 }] };
const relayed = "Relays the request to the training service and returns its response unchanged.";
const page = (id: string) => ({ first_id: id, last_id: id, has_more: false });

export const gatewayOperations: Operations = {
  "POST /v1/chat/completions": {
    id: "createChatCompletion",
    summary: "Create a chat completion",
    description:
      "Relays the request to the chat upstream and its response byte for byte, and records the completion as a call of the given " +
      "project. With `stream`, the response is `text/event-stream`. The path may end in a slash.",
    response: "The completion, or the stream of its chunks",
    example: {
      request: { model: "gpt-4o", messages: [{ role: "user", content: "What does a trace cost?" }] },
      response: {
        id: "chatcmpl-1",
        object: "chat.completion",
        created: 1_768_469_400,
        model: "gpt-4o",
        choices: [
          {
            index: 0,
            message: { role: "assistant", content: "What its calls cost." },
            finish_reason: "stop",
          },
        ],
        usage: { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 },
      },
    },
    also: { response: { "text/event-stream": { schema: { type: "string" } } } },
  },
  "POST /v1/preview/models": {
    id: "createModel",
    summary: "Create a model",
    description: relayed,
    response: "The model",
    example: {
      request: { entity: "acme", project: "demo", name: "assistant", base_model: "Qwen/Qwen3-14B" },
      response: {
        id: model_id,
        entity: "acme",
        project: "demo",
        name: "assistant",
        base_model: "Qwen/Qwen3-14B",
      },
    },
  },
  "DELETE /v1/preview/models/{model_id}": {
    id: "deleteModel",
    summary: "Delete a model",
    description: relayed,
    response: "What was deleted",
    example: { response: { model_id, deleted_checkpoints: 3, deleted_run: true } },
  },
  "GET /v1/preview/models/{model_id}/checkpoints": {
    id: "listCheckpoints",
    summary: "List checkpoints of a model",
    description: relayed,
    response: "A page of checkpoints",
    example: {
      response: {
        object: "list",
        data: [{ id: job.id, step: 1, metrics: { reward: 0.7 } }],
        ...page(job.id),
      },
    },
  },
  "DELETE /v1/preview/models/{model_id}/checkpoints": {
    id: "deleteCheckpoints",
    summary: "Delete checkpoints of a model",
    description: relayed,
    response: "The deleted steps, and the unknown ones",
    example: { request: { steps: [1, 2] }, response: { deleted_count: 1, not_found_steps: [2] } },
  },
  "POST /v1/preview/models/{model_id}/log": {
    id: "logTrajectories",
    summary: "Record a log for a model",
    description: relayed,
    response: "The response of the training service",
    example: { request: { split: "train", trajectory_groups: [trajectory] }, response: null },
  },
  "POST /v1/preview/sft-training-jobs": {
    id: "createSftTrainingJob",
    summary: "Create an SFT training job",
    description: relayed,
    response: "The job",
    example: {
      request: { model_id, training_data_url: "wandb-artifact:///acme/demo/data:v0" },
      response: job,
    },
  },
  "POST /v1/preview/training-jobs": {
    id: "createTrainingJob",
    summary: "Create an RL training job",
    description: relayed,
    response: "The job",
    example: { request: { model_id, trajectory_groups: [trajectory] }, response: job },
  },
  "GET /v1/preview/training-jobs/{training_job_id}": {
    id: "getTrainingJob",
    summary: "Get a training job",
    description: relayed,
    response: "The job",
    example: { response: { ...job, status: "running" } },
  },
  "GET /v1/preview/training-jobs/{training_job_id}/events": {
    id: "listTrainingJobEvents",
    summary: "Get the events of a training job",
    description: relayed,
    response: "A page of events",
    example: {
      response: {
        object: "list",
        data: [{ id: model_id, type: "training_started", data: { num_sequential_calls: 4 } }],
        ...page(model_id),
      },
    },
  },
  "GET /v1/preview/base-models": {
    id: "listBaseModels",
    summary: "List base models",
    description: relayed,
    response: "The names of the models",
    example: { response: ["Qwen/Qwen3-14B"] },
  },
  "GET /v1/health": {
    id: "gatewayHealth",
    summary: "Health of the gateway itself",
    description: "Contacts no upstream: it only reports which are configured.",
    response: "The state of each upstream",
    example: { response: { status: "ok", upstreams: { training: "configured", chat: "not_configured" } } },
  },
  "GET /v1/system-check": {
    id: "systemCheck",
    summary: "Check the training service",
    description: `${relayed} It may be slow.`,
    response: "The response of the training service",
    example: { response: { api: true, database: true } },
  },
};
