import { describe, expect, it } from "vitest";
import { toCallEvent } from "../../../../src/ingest/otlp/to-call-event.ts";
import { ORIGIN, otelSpan, storedSpan } from "../../../helpers/otel-span.ts";

describe("toCallEvent", () => {
  it.each([
    ["no trace id", { traceId: "" }],
    ["a trace id of zeros", { traceId: "0".repeat(32) }],
    ["half a trace id", { traceId: "0af7651916cd43dd" }],
    ["no span id", { spanId: "" }],
    ["a span id of zeros", { spanId: "0".repeat(16) }],
    ["no start", { startedAtNanos: 0n }],
    ["a start beyond all times", { startedAtNanos: 2n ** 64n - 1n }],
    ["an end beyond all times", { endedAtNanos: 2n ** 64n - 1n }],
  ])("rejects a span with %s", (_, more) => {
    expect(toCallEvent(otelSpan({}, more), ORIGIN, "a-key")).toBeTypeOf("string");
  });

  it.each([
    ["of zeros", "0".repeat(16)],
    ["of another length", "00f0"],
  ])("makes a span whose parent id is %s a root", (_, parentSpanId) => {
    expect(storedSpan({}, { parentSpanId })["parent_id"]).toBe("");
  });

  it("marks usage as inclusive, unless the producer's profile excludes descendants", () => {
    expect(storedSpan({ "gen_ai.operation.name": "invoke_agent" })["inclusive"]).toBe(2);
    expect(storedSpan({ "gen_ai.operation.name": "chat" })["inclusive"]).toBe(2);
    const langSmith = toCallEvent(otelSpan(), { ...ORIGIN, scopeName: "langsmith" }, "a-key");
    expect(langSmith).toMatchObject({ columns: { inclusive: 0 } });
  });

  it("sets no completion id without a response id", () => {
    expect(storedSpan({ "output.value": '{"id":"ticket-1"}' })["completion_id"]).toBe("");
    expect(storedSpan({ "gen_ai.response.id": "x".repeat(300) })["completion_id"]).toBe("");
  });
});

describe("thread, turn, user, run and display name", () => {
  it.each([
    ["wandb.thread_id", "thread_id"],
    ["gen_ai.conversation.id", "thread_id"],
    ["session.id", "thread_id"],
    ["traceloop.association.properties.session_id", "thread_id"],
    ["traceloop.association.properties.thread_id", "thread_id"],
    ["ai.telemetry.metadata.sessionId", "thread_id"],
    ["ai.telemetry.metadata.threadId", "thread_id"],
    ["user.id", "svc_user_id"],
    ["enduser.id", "svc_user_id"],
    ["traceloop.association.properties.user_id", "svc_user_id"],
    ["ai.telemetry.metadata.userId", "svc_user_id"],
    ["wandb.wb_run_id", "svc_run_id"],
    ["wandb.display_name", "start_display_name"],
  ])("%s is the %s", (attribute, column) => {
    expect(storedSpan({ [attribute]: "x-1" })[column]).toBe("x-1");
    expect(storedSpan({ [attribute]: 17 })[column]).toBe("17");
    expect(storedSpan({ [attribute]: ["x"] })[column]).toBe("");
  });

  it("uses the span's id as turn id of a turn", () => {
    expect(storedSpan({ "wandb.is_turn": true })["turn_id"]).toBe("b7ad6b7169203331");
    expect(storedSpan({ "wandb.is_turn": "true" })["turn_id"]).toBe("b7ad6b7169203331");
    expect(storedSpan({ "wandb.is_turn": false })["turn_id"]).toBe("");
  });
});

describe("inputs and output", () => {
  const messages = [{ role: "user", content: "hi" }];
  const text = JSON.stringify(messages);

  it.each([
    ["gen_ai.input.messages", text, { messages }],
    ["gen_ai.input.messages", messages, { messages }],
    ["gen_ai.prompt", text, { messages }],
    ["gen_ai.tool.call.arguments", '{"city":"Berlin"}', { arguments: { city: "Berlin" } }],
    ["traceloop.entity.input", '{"args":[1]}', { args: [1] }],
    ["input.value", '{"model":"m"}', { model: "m" }],
    ["input.value", "just text", { input: "just text" }],
    ["input.value", "17", { input: "17" }],
    ["input.value", "{not json", { input: "{not json" }],
    ["ai.prompt", '{"prompt":"hi"}', { prompt: "hi" }],
    ["ai.prompt.messages", text, { messages }],
    ["ai.toolCall.args", '{"a":1}', { arguments: { a: 1 } }],
  ])("%s = %o is inputs", (attribute, value, inputs) => {
    const call = storedSpan({ [attribute]: value });
    expect(call["inputs"]).toEqual(inputs);
    expect(call["attributes"]).toEqual({ otel: expect.any(Object) });
  });

  it.each([
    ["gen_ai.output.messages", text, messages],
    ["gen_ai.tool.call.result", "sunny", "sunny"],
    ["traceloop.entity.output", '"text"', '"text"'],
    ["output.value", '{"a":1}', { a: 1 }],
    ["ai.response.text", "sunny", "sunny"],
    ["ai.response.object", '{"a":1}', { a: 1 }],
    ["ai.response.toolCalls", "[]", []],
    ["ai.toolCall.result", "21", "21"],
  ])("%s = %o is the output", (attribute, value, output) => {
    expect(storedSpan({ [attribute]: value })["output"]).toEqual(output);
  });

  it("reads numbered attributes as a list", () => {
    const call = storedSpan({
      "gen_ai.prompt.0.role": "user",
      "gen_ai.prompt.0.content": "hi",
      "gen_ai.completion.0.content": "hello",
      "gen_ai.system": "openai",
    });
    expect(call["inputs"]).toEqual({ messages });
    expect(call["output"]).toEqual([{ content: "hello" }]);
    expect(call["attributes"]).toMatchObject({ gen_ai: { system: "openai" } });
  });

  it("keeps an attribute if another one has set its member of the inputs", () => {
    const call = storedSpan({ "gen_ai.input.messages": text, "ai.prompt.messages": "[1]" });
    expect(call["inputs"]).toEqual({ messages });
    expect(call["attributes"]).toMatchObject({ ai: { prompt: { messages: "[1]" } } });
  });

  it("does not parse text that is nested too deep", () => {
    const deep = "[".repeat(300) + "]".repeat(300);
    expect(storedSpan({ "input.value": deep })["inputs"]).toEqual({ input: deep });
  });
});

describe("exception", () => {
  const exception = {
    name: "exception",
    atNanos: 0n,
    attributes: new Map([
      ["exception.type", "E"],
      ["exception.message", "boom"],
    ]),
  };

  it.each([
    [
      "the message of an error",
      { status: { code: 2, message: "model is down" }, events: [exception] },
      "model is down",
    ],
    [
      "the exception event of one without",
      { status: { code: 2, message: "" }, events: [exception] },
      "E: boom",
    ],
    ["a plain word when nothing is told", { status: { code: 2, message: "" } }, "error"],
    ["none when the span did not fail", { status: { code: 1, message: "" }, events: [exception] }, ""],
  ])("is %s", (_, more, expected) => {
    expect(storedSpan({}, more)["exception"]).toBe(expected);
  });
});
