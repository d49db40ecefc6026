import { textOf } from "../attributes.ts";
import type { SpanOrigin } from "../span.ts";
import type { Agent } from "./agent.ts";
import { claudeCode } from "./claude-code.ts";
import { cline } from "./cline.ts";
import { codex } from "./codex.ts";
import { copilot } from "./copilot.ts";
import { cursor } from "./cursor.ts";
import { geminiCli, qwenCode } from "./gemini.ts";

/** Agents whose event names are their own, wherever they come from. */
const NAMED: readonly Agent[] = [claudeCode, codex, geminiCli, qwenCode];
/** Agents that only their service or scope tells. The last ones report usage in spans alone. */
const SERVED: readonly Agent[] = [
  ...NAMED,
  cline,
  cursor,
  copilot,
  { name: "opencode", service: /^(?:com\.)?opencode/, prefix: "opencode.", session: ["session.id"] },
  { name: "goose", service: /^goose/, prefix: "goose.", session: ["session.id"] },
  { name: "droid", service: /^(?:factory-?)?droid/, prefix: "droid.", session: ["session.id"] },
];

/** Finds the agent that sent a span, record or metric of these names; `undefined` for any other sender. */
export function agentOf({ resource, scopeName }: SpanOrigin, names: readonly string[]): Agent | undefined {
  const service = textOf(resource.get("service.name")) ?? "";
  return (
    NAMED.find(({ prefix }) => names.some((name) => name.startsWith(prefix))) ??
    SERVED.find((agent) => agent.service.test(service)) ??
    SERVED.find((agent) => agent.service.test(scopeName))
  );
}
