import type { Agent } from "./agent.ts";

/** Source: cline/cline, core-events.ts, src/services/telemetry. */
export const cline: Agent = {
  name: "cline",
  service: /^cline/,
  prefix: "cline.",
  session: ["ulid", "taskId"],
  kept: ["mode", "provider", "apiProvider", "tool", "extension_version", "platform", "organization_id"],
  events: {
    task_tokens: {
      op: "cline.request",
      counts: [
        {
          input: "tokensIn",
          output: "tokensOut",
          cacheRead: "cacheReadTokens",
          cacheWritten: "cacheWriteTokens",
          excludesCache: true,
        },
        { input: "tokens_in", output: "tokens_out", cacheRead: "cache_read_tokens", excludesCache: true },
      ],
      cost: { totalCost: 1, cost: 1 },
    },
  },
};
