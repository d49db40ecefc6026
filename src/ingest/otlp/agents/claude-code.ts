import type { Agent } from "./agent.ts";

/** Source: code.claude.com/docs/en/monitoring-usage. Its cost is an estimate by list prices. */
export const claudeCode: Agent = {
  name: "claude-code",
  service: /^(?:claude-code|com\.anthropic\.claude_code)/,
  prefix: "claude_code.",
  session: ["session.id"],
  turn: ["prompt.id"],
  requests: ["request_id", "client_request_id"],
  kept: ["event.sequence", "tool_use_id", "decision_type", "decision_source", "parent_agent_id"],
  events: {
    api_request: {
      seeds: [["request_id"], ["client_request_id"]],
      counts: [
        {
          input: "input_tokens",
          output: "output_tokens",
          cacheRead: "cache_read_tokens",
          cacheWritten: "cache_creation_tokens",
          cacheWritten1h: "cache_creation_1h_tokens",
          excludesCache: true,
        },
      ],
      cost: { cost_usd: 1, cost_usd_micros: 1e6 },
      completionId: "request_id",
    },
    api_error: { op: "claude_code.api_request" },
    api_refusal: { op: "claude_code.api_request" },
    tool_result: { op: "claude_code.tool", seeds: [["session.id", "tool_use_id"]] },
    api_request_body: { is: "detail" },
    api_response_body: { is: "detail" },
  },
};
