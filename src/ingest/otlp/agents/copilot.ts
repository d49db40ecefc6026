import type { Agent } from "./agent.ts";

/** Sources: microsoft/vscode, agent_monitoring.md; docs.github.com. `github.copilot.cost` is no money. */
export const copilot: Agent = {
  name: "copilot",
  service: /^(?:github[.-])?copilot/,
  prefix: "copilot_chat.",
  session: ["gen_ai.conversation.id", "session.id"],
  turn: ["gen_ai.turn.id"],
  kept: [
    "github.copilot.git.repository",
    "github.copilot.git.branch",
    "gen_ai.tool.name",
    "gen_ai.agent.name",
  ],
  events: {
    gen_ai_client_inference_operation_details: {
      op: "gen_ai.chat",
      seeds: [["gen_ai.response.id"]],
      counts: "conventions",
      completionId: "gen_ai.response.id",
    },
  },
};
