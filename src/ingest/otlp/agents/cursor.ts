import type { Agent } from "./agent.ts";

const KEPT = `team.id user.id surface entrypoint api.billable api.correction.kind request.id skill.name plugin.name
  hook.name hook.type hook.outcome mcp.server.name cloud_agent.pull_request.kind cloud_agent.pull_request.number`;

/** Source: cursor.com/docs/enterprise/opentelemetry-export/wire. A correction takes its usage event off the bill. */
export const cursor: Agent = {
  name: "cursor",
  service: /^cursor(?:\.telemetry)?(?:\/|$)/,
  prefix: "cursor.",
  session: ["cursor.conversation.id"],
  requests: ["cursor.usage_event.id"],
  kept: KEPT.split(/\s+/).map((name) => `cursor.${name}`),
  events: {
    api_request: {
      op: "cursor.request",
      seeds: [["cursor.event.id"]],
      counts: [
        {
          input: "cursor.api.request.input_tokens",
          output: "cursor.api.request.output_tokens",
          cacheRead: "cursor.api.request.cache_read_tokens",
          cacheWritten: "cursor.api.request.cache_creation_tokens",
          excludesCache: true,
        },
      ],
    },
    api_error: { op: "cursor.request", seeds: [["cursor.event.id"]] },
    api_correction: { is: "correction", seeds: [["cursor.event.id"]] },
  },
};
