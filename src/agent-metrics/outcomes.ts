/** Totals of a group, in the order of a response. */
export const OUTCOMES = {
  active_seconds: "Time in which developers and agents worked",
  lines_added: "Lines of code",
  lines_removed: "Lines of code",
  commits: "Commits",
  pull_requests: "Pull requests",
  edits_accepted: "Edits that developers or their settings accepted",
  edits_rejected: "Edits that developers or their settings rejected",
  sessions: "Sessions started",
  reported_tokens: "Tokens by the agents' own metrics, of the last 24 hours at most",
  reported_cost: "Cost (USD) by the agents' own metrics, of the last 24 hours at most",
};
export type Outcome = keyof typeof OUTCOMES;

/** Outcome that a metric counts; by the value of an attribute if it counts several. */
type Counted = Outcome | readonly [attribute: string, outcomes: ReadonlyMap<unknown, Outcome>];

function either(attribute: string, outcomes: Readonly<Record<string, Outcome>>): Counted {
  return [attribute, new Map(Object.entries(outcomes))];
}
/** Tokens of types that do not overlap. */
function tokens(attribute: string, ...types: readonly string[]): Counted {
  return [attribute, new Map(types.map((type) => [type, "reported_tokens"]))];
}
const lines = either("type", { added: "lines_added", removed: "lines_removed" });

/** Metrics of each agent, as its documentation or source has them. */
const METRICS: ReadonlyMap<string, Counted> = new Map(
  Object.entries<Counted>({
    // code.claude.com/docs/en/monitoring-usage
    "claude_code.active_time.total": "active_seconds",
    "claude_code.code_edit_tool.decision": either("decision", {
      accept: "edits_accepted",
      reject: "edits_rejected",
    }),
    "claude_code.commit.count": "commits",
    "claude_code.cost.usage": "reported_cost",
    "claude_code.lines_of_code.count": lines,
    "claude_code.pull_request.count": "pull_requests",
    "claude_code.session.count": "sessions",
    "claude_code.token.usage": tokens("type", "input", "output", "cacheRead", "cacheCreation"),
    // microsoft/vscode-copilot-chat: genAiMetrics.ts
    "copilot_chat.edit.acceptance.count": either("copilot_chat.edit.outcome", {
      accepted: "edits_accepted",
      rejected: "edits_rejected",
    }),
    "copilot_chat.lines_of_code.count": lines,
    "copilot_chat.pull_request.count": "pull_requests",
    "copilot_chat.session.count": "sessions",
    // cursor.com/docs/enterprise/opentelemetry-export: pull requests are events
    "cursor.cost.usage": "reported_cost",
    "cursor.token.usage": tokens("cursor.token.type", "input", "output", "cache_read", "cache_creation"),
    // docs.factory.ai
    "droid.git.commits": "commits",
    "droid.git.pull_requests": "pull_requests",
    // google-gemini/gemini-cli: docs/cli/telemetry.md; the input has the cached tokens
    "gemini_cli.lines.changed": lines,
    "gemini_cli.session.count": "sessions",
    "gemini_cli.token.usage": tokens("type", "input", "output", "thought", "tool"),
    // QwenLM/qwen-code: telemetry.md; the output has the thoughts
    "qwen-code.session.count": "sessions",
    "qwen-code.token.usage": tokens("type", "input", "output"),
  }),
);

/** Returns what a data point counts; `undefined` if it is not of a known metric. */
export function outcomeOf(metric: string, attributes: ReadonlyMap<string, unknown>): Outcome | undefined {
  const counted = METRICS.get(metric);
  if (counted === undefined || typeof counted === "string") return counted;
  const [attribute, outcomes] = counted;
  return outcomes.get(attributes.get(attribute));
}
