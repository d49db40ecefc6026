import { routeSchemas } from "../http/openapi/route-text.ts";
import * as schema from "./schema.ts";

const project_id = "acme/demo";
const id = "0198f5e2-0000-7000-8000-0000000000e1";
const model_id = "0198f5e2-0000-7000-8000-0000000000d1";
const output_model = "acme/demo/assistant";

export const schemas = routeSchemas({
  queryTrainingJobs: {
    summary: "Training jobs",
    description:
      "Training jobs of a project that were created through the gateway, and uploads that broke off, newest first. " +
      "Jobs are followed until they end.",
    success: "A page of jobs",
    example: {
      request: { project_id, status: "completed" },
      response: {
        jobs: [
          {
            id,
            kind: "rl",
            base_model: "Qwen/Qwen3-14B",
            output_model,
            model_id,
            status: "completed",
            error: null,
            forgotten: false,
            created_at: "2026-11-30T09:00:00.000Z",
            ended_at: "2026-11-30T09:41:00.000Z",
            created_by: { api_key: "5f2c8a9b", svc_user_id: null },
            request: { model_id, experimental_config: { learning_rate: 0.00001 } },
            dataset: { sha256: "0".repeat(64), bytes: 104_857_600, lines: 1, export_id: null },
            metrics: { loss: 0.2, reward: 0.7 },
            checkpoints: [{ id: model_id, step: 1, llm: `wandb-artifact:///${output_model}:step1` }],
            stated_cost: 1.25,
          },
        ],
        next_page_token: null,
      },
    },
    body: schema.queryBody,
    response: { 200: schema.queryRes },
  },
});
