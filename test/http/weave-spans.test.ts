import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

const model = "claude-sonnet-4-5";
const answerId = "msg_01XFDUDYJgAACzvnptvVoYEL";
const attributes = { weave: { source: "python-sdk" } };
const at = "2026-01-02T03:04:05Z";
const cached = { cache_read_input_tokens: 800, cache_creation_input_tokens: 300 };
const reported = { [model]: { requests: 1, input_tokens: 1300, output_tokens: 50, ...cached } };
const call = (id: string, more: object) => ({
  id,
  trace_id: "the-trace",
  op_name: "op",
  started_at: at,
  ended_at: at,
  attributes,
  inputs: {},
  ...more,
});
const answer = { id: answerId, model, usage: { input_tokens: 200, output_tokens: 50, ...cached } };
const calls = [
  call("app", { summary: { usage: reported } }),
  call("create", { parent_id: "app", output: answer, summary: { usage: reported } }),
];

const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
const count = (key: string, intValue: number) => ({ key, value: { intValue } });
/** As the `anthropic` package sends it, and the Weave SDK marks it. */
function spanOf(id: string, more: readonly object[]) {
  return {
    traceId: "0af7651916cd43dd8448eb211c80319c",
    spanId: id,
    name: "anthropic.messages.create",
    kind: 3,
    startTimeUnixNano: `${Date.parse(at)}000000`,
    endTimeUnixNano: `${Date.parse(at)}000000`,
    attributes: [
      text("gen_ai.operation.name", "chat"),
      text("gen_ai.response.id", answerId),
      text("gen_ai.response.model", model),
      count("gen_ai.usage.input_tokens", 1300),
      count("gen_ai.usage.output_tokens", 50),
      count("gen_ai.usage.cache_read.input_tokens", 800),
      count("gen_ai.usage.cache_write.input_tokens", 300),
      ...more,
    ],
  };
}
const within = (id: string, trace: string) => [
  text("weave.parent_call.id", id),
  text("weave.parent_call.trace_id", trace),
];

async function sendSpans(project: string, ...spans: object[]): Promise<void> {
  const response = await test.app.inject({
    method: "POST",
    url: "/agents/otel/v1/traces",
    headers: {
      authorization: `Basic ${Buffer.from(`api:st_test00000000_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG`).toString("base64")}`,
      "content-type": "application/json",
      project_id: project,
    },
    payload: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }),
  });
  expect([response.statusCode, response.json()]).toEqual([200, {}]);
}

async function usageOf(project_id: string) {
  const body = { project_id, filter: { trace_roots_only: true }, include_costs: true };
  return (await test.post("/trace/usage", body)).json().call_usage as Record<string, Record<string, object>>;
}

const once = {
  requests: 1,
  prompt_tokens: 1300,
  completion_tokens: 50,
  cache_read_input_tokens: 800,
  cache_creation_input_tokens: 300,
  // 200 of them are neither read from the cache nor written to it, at 3 USD a million
  prompt_tokens_total_cost: 0.0006,
  cache_read_input_tokens_total_cost: 0.00024,
  cache_creation_input_tokens_total_cost: 0.001125,
};

describe("a completion of Anthropic's that the Weave SDK for Python traced", () => {
  it("is charged only for uncached tokens", async () => {
    await test.post("/v2/acme/alone/calls/complete", { batch: calls });
    expect(await usageOf("acme/alone")).toEqual({ app: { [model]: expect.objectContaining(once) } });
  });

  it.each(["call first", "span first"])(
    "counts once together with the span of Anthropic's package (%s)",
    async (order) => {
      const project = `acme/${order.replace(" ", "-")}`;
      const span = spanOf("00f067aa0ba902b7", within("create", "the-trace"));
      if (order === "span first") await sendSpans(project, span);
      await test.post(`/v2/${project}/calls/complete`, { batch: calls });
      if (order === "call first") await sendSpans(project, span);
      expect(await usageOf(project)).toEqual({ app: { [model]: expect.objectContaining(once) } });
      const read = await test.post("/call/read", { project_id: project, id: "00f067aa0ba902b7" });
      expect(read.json().call).toMatchObject({ trace_id: "the-trace", parent_id: "create" });
    },
  );

  it("counts if only the span reports it, as for a stream, and a child span stays a child", async () => {
    const project = "acme/streams";
    await test.post(`/v2/${project}/calls/complete`, { batch: [call("app", { summary: {} })] });
    const below = {
      ...spanOf("00f067aa0ba902b9", within("app", "the-trace")),
      parentSpanId: "00f067aa0ba902b8",
    };
    await sendSpans(project, spanOf("00f067aa0ba902b8", within("app", "the-trace")), below);
    expect(await usageOf(project)).toEqual({ app: { [model]: expect.objectContaining(once) } });
    const read = await test.post("/call/read", { project_id: project, id: "00f067aa0ba902b9" });
    expect(read.json().call).toMatchObject({ trace_id: "the-trace", parent_id: "00f067aa0ba902b8" });
  });

  it("a span without a complete call id and trace id stays in its own trace", async () => {
    const project = "acme/own";
    await sendSpans(project, spanOf("00f067aa0ba902b7", within("create", "")), {
      ...spanOf("00f067aa0ba902b8", within("x".repeat(513), "the-trace")),
      traceId: "1af7651916cd43dd8448eb211c80319c",
    });
    expect(Object.keys(await usageOf(project))).toEqual(["00f067aa0ba902b7", "00f067aa0ba902b8"]);
  });
});
