const MINUTE_MS = 60_000;
const REQUESTS = [
  { input: 12, read: 0, written: 18_400, output: 310 },
  { input: 8, read: 18_400, written: 2_150, output: 640 },
  { input: 9, read: 20_550, written: 980, output: 1_220 },
];

type Values = Readonly<Record<string, string | number>>;

function attributesOf(values: Values) {
  return Object.entries(values).map(([key, value]) => ({
    key,
    value: typeof value === "string" ? { stringValue: value } : { intValue: String(value) },
  }));
}

function resourceOf(project: string, team: string) {
  const named = {
    "service.name": "claude-code",
    "sumtree.project": project,
    "team.id": team,
    "vcs.repository.name": "acme/web",
    billing: "api",
  };
  return { attributes: attributesOf(named) };
}

interface Session {
  readonly id: string;
  readonly user: string;
  readonly team: string;
  readonly atMs: number;
}

/** The log records of a session of Claude Code: its requests, and a tool. */
export function agentLogs(project: string, { id, user, team, atMs }: Session) {
  const common = { "session.id": id, "prompt.id": `${id}-1`, "user.email": user };
  const record = (name: string, more: Values, minute: number) => ({
    timeUnixNano: `${atMs + minute * MINUTE_MS}000000`,
    body: { stringValue: `claude_code.${name}` },
    attributes: attributesOf({ "event.name": name, ...common, ...more }),
  });
  const requests = REQUESTS.map(({ input, read, written, output }, number) =>
    record(
      "api_request",
      {
        request_id: `req_011C${id}${number}`,
        model: "claude-sonnet-4-5",
        input_tokens: input,
        cache_read_tokens: read,
        cache_creation_tokens: written,
        output_tokens: output,
        duration_ms: 4200,
      },
      number,
    ),
  );
  const tool = { tool_name: "Edit", tool_use_id: `${id}-edit`, success: "true", duration_ms: 40 };
  const logRecords = [...requests, record("tool_result", tool, 2)];
  return { resourceLogs: [{ resource: resourceOf(project, team), scopeLogs: [{ logRecords }] }] };
}

/** Its metrics: a commit, lines, and the time in which it was used. */
export function agentMetrics(project: string, { id, user, team, atMs }: Session) {
  const sum = (name: string, value: number, more: Values = {}) => ({
    name: `claude_code.${name}`,
    sum: {
      aggregationTemporality: 1,
      isMonotonic: true,
      dataPoints: [
        {
          startTimeUnixNano: `${atMs}000000`,
          timeUnixNano: `${atMs + 3 * MINUTE_MS}000000`,
          asInt: String(value),
          attributes: attributesOf({ "session.id": id, "user.email": user, ...more }),
        },
      ],
    },
  });
  const metrics = [
    sum("commit.count", 1),
    sum("lines_of_code.count", 48, { type: "added" }),
    sum("lines_of_code.count", 11, { type: "removed" }),
    sum("active_time.total", 170, { type: "cli" }),
    sum("code_edit_tool.decision", 1, { tool_name: "Edit", decision: "accept" }),
  ];
  return { resourceMetrics: [{ resource: resourceOf(project, team), scopeMetrics: [{ metrics }] }] };
}
