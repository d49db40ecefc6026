import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { authorization, ROOT_KEY, startApp, type TestApp } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

/** The provider's answers, by number of the request. */
const ANSWERS = [0, 1, 2].map((number) => ({
  id: `msg_01AbCdEfGhIjKlMnOpQr${number}t`,
  type: "message",
  role: "assistant",
  model: "claude-sonnet-4-5",
  content: [{ type: "text", text: "42" }],
  stop_reason: "end_turn",
  usage: {
    input_tokens: 10 + number,
    cache_read_input_tokens: 90,
    cache_creation_input_tokens: 5,
    output_tokens: 40,
  },
}));
const RESPONSES = [0, 1, 2].map((number) => ({
  id: `resp_0a1B2c3D4e5F6a7B8c${number}`,
  object: "response",
  status: "completed",
  model: "gpt-5",
  output: [],
  usage: {
    input_tokens: 100 + number,
    input_tokens_details: { cached_tokens: 60 },
    output_tokens: 9,
    output_tokens_details: { reasoning_tokens: 2 },
    total_tokens: 109 + number,
  },
}));
const requestId = (number: number): string => `req_011CXyZ${number}AbCd`;

let provider: Server;
let test: TestApp;
let origin: string;
beforeAll(async () => {
  provider = createServer((request, response) => {
    const number = Number(request.headers["x-stainless-retry-count"]);
    request.resume().on("end", () => {
      const isClaude = request.url!.startsWith("/v1/messages");
      const id = { [isClaude ? "request-id" : "x-request-id"]: requestId(number) };
      response.writeHead(200, { "content-type": "application/json", ...id });
      response.end(JSON.stringify((isClaude ? ANSWERS : RESPONSES)[number]));
    });
  });
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
  test = await startApp({ settings: { CHAT_UPSTREAM_URL: url, ANTHROPIC_UPSTREAM_URL: url } });
  origin = await test.app.listen({ host: "127.0.0.1", port: 0 });
});
afterAll(async () => {
  await test.close();
  provider.closeAllConnections();
  await new Promise((resolve) => provider.close(resolve));
});

type Values = Readonly<Record<string, string | number>>;
const attributesOf = (values: Values) =>
  Object.entries(values).map(([key, value]) => ({
    key,
    value: typeof value === "string" ? { stringValue: value } : { intValue: String(value) },
  }));
const NOW = Date.now() - 60_000;
const nanos = (number: number): string => `${NOW + number * 1000}000000`;

interface Session {
  readonly project: string;
  /** Its session, traces and spans are its own. */
  readonly number: number;
}
const hex = (length: number, ...parts: readonly number[]): string =>
  parts
    .map((part) => (part + 10).toString(16))
    .join("f")
    .padStart(length, "a");

async function exportTo(signal: "logs" | "traces", project: string, body: object): Promise<void> {
  const headers = { authorization: authorization(), "content-type": "application/json", project_id: project };
  const response = await fetch(`${origin}/otel/v1/${signal}`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  expect([response.status, await response.json()]).toEqual([200, {}]);
}

async function relay(
  project: string,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const response = await fetch(`${origin}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${ROOT_KEY}`,
      "openai-project": project,
      "content-type": "application/json",
      ...headers,
    },
    body: JSON.stringify({ model: "claude-sonnet-4-5", max_tokens: 99, messages: [], input: "hi" }),
  });
  expect(response.status).toBe(200);
  await response.arrayBuffer();
}

type Route = (session: Session) => Promise<void>;

/** Claude Code as version 2.1.332 reports three requests. */
const claudeCode: Readonly<Record<"gateway" | "logs" | "spans", Route>> = {
  async gateway({ project, number }) {
    for (const n of ANSWERS.keys())
      await relay(project, "/v1/messages", {
        "x-stainless-retry-count": String(n),
        "x-claude-code-session-id": `session-${number}`,
      });
  },
  logs: ({ project, number }) =>
    exportTo("logs", project, {
      resourceLogs: [
        {
          resource: { attributes: attributesOf({ "service.name": "claude-code", "team.id": "pay" }) },
          scopeLogs: [
            {
              scope: { name: "com.anthropic.claude_code.events" },
              logRecords: ANSWERS.map(({ usage, model }, n) => ({
                timeUnixNano: nanos(n),
                traceId: hex(32, number),
                spanId: hex(16, number),
                body: { stringValue: "claude_code.api_request" },
                attributes: attributesOf({
                  "event.name": "api_request",
                  "session.id": `session-${number}`,
                  request_id: requestId(n),
                  model,
                  input_tokens: usage.input_tokens,
                  output_tokens: usage.output_tokens,
                  cache_read_tokens: usage.cache_read_input_tokens,
                  cache_creation_tokens: usage.cache_creation_input_tokens,
                }),
              })),
            },
          ],
        },
      ],
    }),
  spans: ({ project, number }) =>
    exportTo("traces", project, {
      resourceSpans: [
        {
          resource: { attributes: attributesOf({ "service.name": "claude-code", "team.id": "pay" }) },
          scopeSpans: [
            {
              spans: [
                {
                  traceId: hex(32, number),
                  spanId: hex(16, number),
                  name: "claude_code.interaction",
                  startTimeUnixNano: nanos(0),
                  endTimeUnixNano: nanos(9),
                },
                ...ANSWERS.map(({ usage, model }, n) => ({
                  traceId: hex(32, number),
                  spanId: hex(16, number, n),
                  parentSpanId: hex(16, number),
                  name: "claude_code.llm_request",
                  startTimeUnixNano: nanos(n),
                  endTimeUnixNano: nanos(n + 1),
                  attributes: attributesOf({
                    model,
                    request_id: requestId(n),
                    "gen_ai.response.id": requestId(n),
                    "gen_ai.usage.input_tokens":
                      usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens,
                    "gen_ai.usage.output_tokens": usage.output_tokens,
                    "gen_ai.usage.cache_read.input_tokens": usage.cache_read_input_tokens,
                    "gen_ai.usage.cache_write.input_tokens": usage.cache_creation_input_tokens,
                    input_tokens: usage.input_tokens,
                    output_tokens: usage.output_tokens,
                    cache_read_tokens: usage.cache_read_input_tokens,
                    cache_creation_tokens: usage.cache_creation_input_tokens,
                  }),
                })),
              ],
            },
          ],
        },
      ],
    }),
};

const conversation = (number: number): string => `01a228ff-a7b3-7823-bc4a-a18c1d08b7e${number % 10}`;
const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

/** Codex as version 0.171.0 reports a turn of three requests. */
const codex: typeof claudeCode = {
  async gateway({ project, number }) {
    for (const n of RESPONSES.keys())
      await relay(project, "/v1/responses", {
        "x-stainless-retry-count": String(n),
        "session-id": conversation(number),
        "thread-id": conversation(number),
        originator: "codex_exec",
        traceparent: `00-${hex(32, number)}-${hex(16, number, n + 5)}-01`,
      });
  },
  logs: ({ project, number }) =>
    exportTo("logs", project, {
      resourceLogs: [
        {
          resource: { attributes: attributesOf({ "service.name": "codex_exec" }) },
          scopeLogs: [
            {
              scope: { name: "codex_otel.log_only" },
              logRecords: RESPONSES.flatMap(({ usage, model }, n) =>
                // the first time without counts
                [undefined, usage].map((counts) => ({
                  timeUnixNano: "0",
                  observedTimeUnixNano: nanos(n),
                  eventName: "event otel/src/events/session_telemetry.rs:1187",
                  attributes: attributesOf({
                    "event.name": "codex.sse_event",
                    "event.kind": "response.completed",
                    "event.timestamp": new Date(NOW + n * 1000).toISOString(),
                    "conversation.id": conversation(number),
                    model,
                    ...(counts !== undefined && {
                      input_token_count: String(counts.input_tokens),
                      output_token_count: String(counts.output_tokens),
                      cached_token_count: String(counts.input_tokens_details.cached_tokens),
                      cache_write_token_count: "0",
                      reasoning_token_count: String(counts.output_tokens_details.reasoning_tokens),
                      tool_token_count: String(counts.total_tokens),
                    }),
                  }),
                })),
              ),
            },
          ],
        },
      ],
    }),
  spans: ({ project, number }) =>
    exportTo("traces", project, {
      resourceSpans: [
        {
          resource: { attributes: attributesOf({ "service.name": "codex_exec" }) },
          scopeSpans: [
            {
              spans: [
                {
                  traceId: hex(32, number),
                  spanId: hex(16, number),
                  name: "session_task.turn",
                  startTimeUnixNano: nanos(0),
                  endTimeUnixNano: nanos(9),
                  attributes: attributesOf({
                    "thread.id": conversation(number),
                    "turn.id": `turn-${number}`,
                    model: "gpt-5",
                    "codex.turn.token_usage.input_tokens": String(
                      sum(RESPONSES.map(({ usage }) => usage.input_tokens)),
                    ),
                    "codex.turn.token_usage.cached_input_tokens": "180",
                    "codex.turn.token_usage.output_tokens": "27",
                    "codex.turn.token_usage.reasoning_output_tokens": "6",
                  }),
                },
                ...RESPONSES.flatMap(({ usage }, n) => [
                  {
                    traceId: hex(32, number),
                    spanId: hex(16, number, n + 5),
                    parentSpanId: hex(16, number),
                    name: "endpoint_session.stream_encoded_json_with",
                    startTimeUnixNano: nanos(n),
                    endTimeUnixNano: nanos(n + 1),
                    attributes: attributesOf({ "thread.id": "3" }),
                  },
                  {
                    traceId: hex(32, number),
                    spanId: hex(16, number, n),
                    parentSpanId: hex(16, number),
                    name: "handle_responses",
                    startTimeUnixNano: nanos(n),
                    endTimeUnixNano: nanos(n + 1),
                    attributes: attributesOf({
                      "thread.id": "3",
                      "gen_ai.usage.input_tokens": String(usage.input_tokens),
                      "gen_ai.usage.cache_read.input_tokens": "60",
                      "gen_ai.usage.output_tokens": "9",
                    }),
                  },
                ]),
              ],
            },
          ],
        },
      ],
    }),
};

const AGENTS = {
  "Claude Code": {
    routes: claudeCode,
    llm: "claude-sonnet-4-5",
    served: [3, sum(ANSWERS.map(({ usage }) => usage.input_tokens + 95)), 120, 270],
  },
  Codex: {
    routes: codex,
    llm: "gpt-5",
    served: [undefined, sum(RESPONSES.map(({ usage }) => usage.input_tokens)), 27, 180],
  },
};
const SUBSETS = [
  "gateway",
  "logs",
  "spans",
  "gateway logs",
  "logs spans",
  "spans gateway",
  "logs gateway spans",
];

/** Prompt with cached tokens, completion and cached tokens by LLM; requests, of which a turn of Codex tells no number. */
async function countedIn(project_id: string): Promise<Record<string, readonly number[]>> {
  const start = new Date(NOW - 3_600_000).toISOString();
  const body = { project_id, start, group_by: ["llm"], include_costs: true };
  const stats = (await test.post("/usage/stats", body)).json();
  const own = await test.post("/trace/usage", { project_id, own_only: true });
  const rolledUp: Record<string, number> = {};
  for (const call of Object.values<Record<string, { completion_tokens: number }>>(own.json().call_usage))
    for (const [llm, { completion_tokens: tokens }] of Object.entries(call))
      rolledUp[llm] = (rolledUp[llm] ?? 0) + tokens;
  const counted: Record<string, readonly number[]> = {};
  for (const { key, total } of stats.groups) {
    if (total.total_tokens === 0) continue;
    const outside = key.llm === "claude-sonnet-4-5" && total.prompt_tokens < 200;
    const prompt =
      total.prompt_tokens + (outside ? total.cache_read_input_tokens + total.cache_creation_input_tokens : 0);
    counted[key.llm] = [total.requests, prompt, total.completion_tokens, total.cache_read_input_tokens];
    expect(rolledUp[key.llm]).toBe(total.completion_tokens);
  }
  return counted;
}

async function stored(project_id: string): Promise<number> {
  const start = new Date(NOW - 3_600_000).toISOString();
  return (await test.post("/usage/stats", { project_id, start })).json().total.calls;
}

let sessions = 0;
describe.each(Object.entries(AGENTS))("a session of %s", (_, { routes, llm, served }) => {
  it.each(SUBSETS)("counts what the provider served, reported by: %s", async (names) => {
    const session = { project: `acme/agent-${++sessions}`, number: sessions };
    for (const name of names.split(" ")) {
      const before = await stored(session.project);
      await routes[name as keyof typeof routes](session);
      // the gateway stores after it has answered
      if (name === "gateway") await until(async () => (await stored(session.project)) >= before + 3);
    }
    const counted = await countedIn(session.project);
    expect(Object.keys(counted)).toEqual([llm]);
    const [requests, ...tokens] = counted[llm]!;
    expect(tokens).toEqual(served.slice(1));
    if (served[0] !== undefined) expect(requests).toBe(served[0]);
  });

  it("counts once however often its log records and spans are sent", async () => {
    const session = { project: `acme/agent-${++sessions}`, number: sessions };
    for (let times = 0; times < 5; times++) {
      await routes.logs(session);
      await routes.spans(session);
    }
    expect((await countedIn(session.project))[llm]!.slice(1)).toEqual(served.slice(1));
  });
});

it("a receipt of a log record names the call of the gateway that counts", async () => {
  const session = { project: `acme/agent-${++sessions}`, number: sessions };
  await claudeCode.logs(session);
  await claudeCode.gateway(session);
  await until(async () => (await stored(session.project)) === 6);
  const calls = await test.post("/calls/query", { project_id: session.project });
  const all: { id: string; op_name: string }[] = calls.text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const relayed = all.filter(({ op_name }) => op_name === "anthropic.messages.create").map(({ id }) => id);
  for (const { id } of all.filter(({ op_name }) => op_name === "claude_code.api_request")) {
    const receipt = (await test.post("/call/receipt", { project_id: session.project, call_id: id })).json();
    expect(relayed).toContain(receipt.superseded_by.call_id);
    expect(receipt.total.total_cost).toBe(0);
    expect(receipt.completion).toMatchObject({ usage_source: "elsewhere" });
  }
});

it("four agents in one repository count side by side", async () => {
  const project = `acme/agent-${++sessions}`;
  await Promise.all([
    claudeCode.logs({ project, number: 501 }),
    claudeCode.spans({ project, number: 501 }),
    codex.logs({ project, number: 502 }),
    codex.spans({ project, number: 502 }),
    codex.logs({ project, number: 503 }),
  ]);
  const counted = await countedIn(project);
  expect(counted["claude-sonnet-4-5"]!.slice(1)).toEqual(AGENTS["Claude Code"].served.slice(1));
  expect(counted["gpt-5"]!.slice(1)).toEqual(AGENTS.Codex.served.slice(1).map((tokens) => tokens! * 2));
});
