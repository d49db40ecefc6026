import type { Agent, EventCounts } from "./agent.ts";

const COUNTS: EventCounts = {
  input: "input_token_count",
  output: "output_token_count",
  cacheRead: "cached_content_token_count",
  reasoning: "thoughts_token_count",
  toolInput: "tool_token_count",
  total: "total_token_count",
};

const USAGE = "gen_ai.usage";

/**
 * Source: google-gemini/gemini-cli, packages/core/src/telemetry/types.ts. It logs each response twice, the second time without
 * the prompt; by their counts, responses to subagents within one millisecond are told apart.
 */
export const geminiCli: Agent = {
  name: "gemini-cli",
  service: /^gemini-cli/,
  prefix: "gemini_cli.",
  session: ["session.id"],
  turn: ["prompt_id"],
  kept: ["auth_type", "role", "tool_type", "mcp_server_name", "extension_name", "subagent_name"],
  events: {
    api_response: {
      seeds: [["session.id", "event.timestamp", "model", COUNTS.input, COUNTS.output]],
      counts: [{ ...COUNTS, excludesParts: true }],
    },
    gen_ai_client_inference_operation_details: {
      is: { twin: "api_response" },
      seeds: [
        [
          "session.id",
          "event.timestamp",
          "gen_ai.request.model",
          `${USAGE}.input_tokens`,
          `${USAGE}.output_tokens`,
        ],
      ],
      completionId: "gen_ai.response.id",
    },
  },
};

/** Source: QwenLM/qwen-code, packages/core/src/telemetry. Its OpenAI-compatible models count thoughts in the output. */
export const qwenCode: Agent = {
  ...geminiCli,
  name: "qwen-code",
  service: /^qwen-code/,
  prefix: "qwen-code.",
  events: {
    api_response: {
      seeds: [["response_id"]],
      counts: [COUNTS],
      completionId: "response_id",
    },
  },
};
