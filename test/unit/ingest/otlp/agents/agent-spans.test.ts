import { describe, expect, it } from "vitest";
import type { OtelSpan } from "../../../../../src/ingest/otlp/span.ts";
import { toCallEvent } from "../../../../../src/ingest/otlp/to-call-event.ts";
import {
  fixtureLogs,
  originOf,
  PROJECT,
  read,
  storedEvent,
  type Values,
} from "../../../../helpers/agent-logs.ts";
import { otelSpan } from "../../../../helpers/otel-span.ts";

const REQUEST = "req_011CVxT5qWbnPkR8uLmZaY3d";
const COUNTS = { "gen_ai.usage.input_tokens": 40, "gen_ai.usage.output_tokens": 5 };
const TRACE = "0af7651916cd43dd8448eb211c80319c";

function span(
  service: string,
  attributes: Values,
  more: Partial<OtelSpan> & { readonly resource?: Values; readonly keepsContent?: boolean } = {},
) {
  const { resource, keepsContent = false, ...members } = more;
  const origin = originOf({ "service.name": service, ...resource }, "scope");
  return storedEvent(
    toCallEvent(otelSpan(attributes, members), origin, "a-key", { project: PROJECT, keepsContent }),
  );
}

describe("reports of spans", () => {
  it("any span with usage reports a completion id that is unique", () => {
    expect(span("my-app", { ...COUNTS, "gen_ai.response.id": "chatcmpl-9fK2mQx7RwT4" })["reports"]).toEqual([
      ["chatcmpl-9fK2mQx7RwT4", 2],
    ]);
    expect(span("my-app", { ...COUNTS, "gen_ai.response.id": "chatcmpl-123" })["reports"]).toBeUndefined();
    expect(span("my-app", { "gen_ai.response.id": "chatcmpl-9fK2mQx7RwT4" })["reports"]).toBeUndefined();
    expect(span("my-app", { ...COUNTS, request_id: REQUEST })["reports"]).toBeUndefined();
  });

  it("Claude Code's requests report the provider's and the client's id", () => {
    const ids = { request_id: REQUEST, "gen_ai.response.id": REQUEST, client_request_id: "8e2f7a54" };
    const call = span("my-wrapper", { ...ids, input_tokens: 10 }, { name: "claude_code.llm_request" });
    expect(call["reports"]).toEqual([
      [REQUEST, 2],
      ["8e2f7a54", 2],
    ]);
  });

  it("a turn of Codex reports its conversation, and calls no model itself", () => {
    const turn = {
      "thread.id": "conv-1",
      "turn.id": "7",
      model: "gpt-5.5-codex",
      "codex.turn.token_usage.input_tokens": 9210,
      "codex.turn.token_usage.output_tokens": 120,
      "codex.turn.token_usage.cached_input_tokens": 8960,
      "codex.turn.token_usage.total_tokens": 9330,
    };
    const call = span("codex_cli_rs", turn, { name: "session_task.turn" });
    expect(call).toMatchObject({
      thread_id: "conv-1",
      turn_id: "7",
      inclusive: 2,
      usage: {
        llm: "gpt-5.5-codex",
        requests: 0,
        promptTokens: 9210,
        completionTokens: 120,
        cacheReadTokens: 8960,
      },
      reports: [
        ["conversation:conv-1", 1],
        [`conversation:${TRACE}`, 1],
      ],
    });
  });

  it("a response of Codex, which names no conversation, reports its trace", () => {
    const named = { ...COUNTS, "thread.id": "3", model: "gpt-5" };
    const call = span("codex_exec", named, { name: "handle_responses" });
    expect(call).toMatchObject({ usage: { requests: 1 }, reports: [[`conversation:${TRACE}`, 1]] });
    expect(call["thread_id"]).toBeUndefined();
  });

  it("a response of Codex without a model is left to its turn", () => {
    expect(span("codex_exec", COUNTS, { name: "handle_responses" })["usage"]).toBeUndefined();
  });
});

describe("attributes of agents' spans", () => {
  const resource = {
    "team.id": "pay",
    "vcs.repository.name": "acme/web",
    billing: "subscription",
    secret: "s",
  };

  it("those of the resource are kept at the top, and its billing", () => {
    const attributes = {
      ...COUNTS,
      "user.email": "ada@example.com",
      "session.id": "s-1",
      "vcs.repository.name": "acme/api",
    };
    expect(span("claude-code", attributes, { resource })).toMatchObject({
      svc_user_id: "ada@example.com",
      thread_id: "s-1",
      attributes: {
        team: { id: "pay" },
        vcs: { repository: { name: "acme/api" } },
        sumtree: { agent: "claude-code", billing: "subscription" },
      },
    });
  });

  it("those of other producers stay where they are", () => {
    const { attributes } = span("my-app", { ...COUNTS, "gen_ai.input.messages": "[]" }, { resource });
    expect(attributes).not.toHaveProperty("team");
    expect(attributes).not.toHaveProperty("sumtree");
    expect(attributes).toMatchObject({ otel: { resource: { team: { id: "pay" } } } });
  });
});

describe("content of agents' spans", () => {
  const attributes = {
    ...COUNTS,
    "gen_ai.input.messages": '[{"content":"secret"}]',
    "gen_ai.output.messages": '[{"content":"secret"}]',
    "gen_ai.tool.call.arguments": { path: "secret" },
    "gen_ai.tool.name": "shell",
    "ai.prompt.tools": ["secret"],
    user_prompt: "secret",
    "gen_ai.usage.reasoning_tokens": 3,
  };
  const more: Partial<OtelSpan> = {
    name: "claude_code.tool",
    events: [{ name: "tool.output", atNanos: 0n, attributes: new Map([["output", "secret"]]) }],
    links: [{ traceId: TRACE, spanId: "b7ad6b7169203331", attributes: new Map([["note", "secret"]]) }],
    status: { code: 2, message: "cat: secret" },
  };
  const resource = { "process.command_args": "claude -p secret", "service.version": "2.1.276" };

  it.each(["claude-code", "codex_cli_rs", "opencode", "goose", "copilot-chat"])(
    "of %s is dropped by default",
    (service) => {
      const call = span(service, attributes, { ...more, resource });
      expect(JSON.stringify(call)).not.toContain("secret");
      expect(call).toMatchObject({
        exception: "error",
        usage: { promptTokens: 40 },
        attributes: {
          gen_ai: { tool: { name: "shell" }, usage: { reasoning_tokens: 3 } },
          otel: { events: [{ name: "tool.output" }] },
        },
      });
    },
  );

  it("is kept on request, and of other producers always", () => {
    for (const call of [
      span("codex_cli_rs", attributes, { ...more, keepsContent: true }),
      span("my-app", attributes, { ...more, name: "tool" }),
    ]) {
      expect(call).toMatchObject({
        inputs: { messages: [{ content: "secret" }], arguments: { path: "secret" } },
        output: [{ content: "secret" }],
        exception: "cat: secret",
        attributes: { user_prompt: "secret" },
      });
    }
  });
});

it("Copilot's cost is no money, and its agents' spans call no model themselves", () => {
  const chat = span("github-copilot", {
    ...COUNTS,
    "github.copilot.cost": 3,
    "gen_ai.operation.name": "chat",
  });
  expect(chat).toMatchObject({ cost: null, usage: { requests: 1 } });
  expect(span("github-copilot", { ...COUNTS, "gen_ai.operation.name": "invoke_agent" })).toMatchObject({
    inclusive: 2,
    usage: { requests: 0, promptTokens: 40 },
  });
});

it("a log record that Qwen Code sends as a span is the call of the record", () => {
  const [record, origin] = fixtureLogs("qwen-code")[0]!;
  const bridged = otelSpan(
    { ...Object.fromEntries(record.attributes), "log.bridge": true },
    { name: record.body as string, startedAtNanos: record.atNanos },
  );
  const event = toCallEvent(bridged, origin, "a-key", { project: PROJECT });
  expect(event).toEqual(read([record, origin]));
  const other = toCallEvent(bridged, originOf({ "service.name": "my-app" }), "a-key", { project: PROJECT });
  expect(other).toMatchObject({ id: storedEvent(event).id });
  expect(
    toCallEvent(otelSpan({ "log.bridge": true }), originOf({}), "a-key", { project: PROJECT }),
  ).toMatchObject({
    id: "b7ad6b7169203331",
  });
});
