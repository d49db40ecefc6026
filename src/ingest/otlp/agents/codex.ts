import type { Agent } from "./agent.ts";

/** Source: openai/codex, codex-rs/otel/src/events. `tool_token_count` is the total of the other counts. */
export const codex: Agent = {
  name: "codex",
  service: /^codex(?:[ _-]|$)/i,
  prefix: "codex.",
  session: ["conversation.id", "thread.id"],
  turn: ["turn.id"],
  requests: "session",
  kept: ["auth_mode", "originator", "event.kind", "call_id", "tool_result_seq", "mcp_server", "outcome"],
  events: {
    sse_event: {
      op: "codex.response",
      is: "detail",
      counts: [
        {
          input: "input_token_count",
          output: "output_token_count",
          cacheRead: "cached_token_count",
          cacheWritten: "cache_write_token_count",
          reasoning: "reasoning_token_count",
        },
      ],
    },
    websocket_event: { is: "detail" },
    tool_result: { op: "codex.tool", seeds: [["conversation.id", "call_id", "tool_result_seq"]] },
  },
};
