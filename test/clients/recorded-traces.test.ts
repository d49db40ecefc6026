import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { recorded, spansOf, trueUsage } from "../helpers/recorded-trace.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

const RECORDED = [
  "ai-sdk-4",
  "ai-sdk-5",
  "ai-sdk-6",
  "ai-sdk-7",
  "ai-sdk-7-legacy",
  "openinference-langchain",
  "openinference-openai",
  "openllmetry-0.12",
  "openllmetry-0.27",
];

type Usage = Record<string, Record<string, number>>;

async function usageOf(traceId: string): Promise<Record<string, Usage>> {
  const response = await test.post("/trace/usage", {
    project_id: "acme/recorded",
    filter: { trace_ids: [traceId] },
  });
  expect(response.json().unfinished_call_ids).toEqual([]);
  return response.json().call_usage;
}

describe.each(RECORDED)("the recorded trace of %s", (name) => {
  const request = recorded(name);
  const spans = spansOf(request);

  it("has correct usage at every level, also if it is sent twice", async () => {
    for (let sent = 0; sent < 2; sent++) {
      const response = await test.post("/otel/v1/traces", request);
      expect([response.status, response.text]).toEqual([200, "{}"]);
      const usage = await usageOf(spans[0]!.traceId);
      const expected = trueUsage(spans);
      expect(Object.keys(usage).sort()).toEqual(Object.keys(expected).sort());
      for (const [id, perModel] of Object.entries(expected)) {
        expect(Object.keys(usage[id]!).sort(), id).toEqual(Object.keys(perModel).sort());
        expect(usage[id], spans.find((span) => span.spanId === id)!.name).toMatchObject(perModel);
      }
    }
  });
});

interface StoredCall {
  readonly [member: string]: unknown;
  readonly op_name: string;
}

async function callsOf(name: string): Promise<StoredCall[]> {
  await test.post("/otel/v1/traces", recorded(name));
  const filter = { trace_ids: [spansOf(recorded(name))[0]!.traceId] };
  const response = await test.post("/calls/stream_query", { project_id: "acme/recorded", filter });
  return response.text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as StoredCall);
}

const ask = [{ role: "user", content: [{ type: "text", text: "weather in Berlin?" }] }];

describe("the stored calls of the recorded trace of", () => {
  it.each([
    [
      "ai-sdk-4",
      "ai.generateText",
      {
        inputs: { prompt: "weather in Berlin?" },
        output: "It is sunny",
        thread_id: "s-1",
        wb_user_id: "u-1",
      },
    ],
    ["ai-sdk-5", "ai.toolCall", { inputs: { arguments: { city: "Berlin" } }, output: { c: 21 } }],
    [
      "ai-sdk-6",
      "ai.generateText.doGenerate",
      { inputs: { messages: ask }, output: [{ toolName: "weather", input: '{"city":"Berlin"}' }] },
    ],
    ["ai-sdk-7", "execute_tool weather", { inputs: { arguments: { city: "Berlin" } }, output: { c: 21 } }],
    [
      "openinference-openai",
      "OpenAI Chat Completions",
      { inputs: { model: "gpt-4o", temperature: 0.5 }, output: { model: "gpt-4o-2024-08-06" } },
    ],
    ["openinference-langchain", "outer", { inputs: { input: "hi" }, output: "Hello", thread_id: "s-9" }],
    [
      "openllmetry-0.12",
      "openai.chat",
      {
        inputs: {
          messages: [
            { role: "system", content: "be kind" },
            { role: "user", content: "hi" },
          ],
        },
        output: [{ role: "assistant", content: "Hello" }],
      },
    ],
    [
      "openllmetry-0.27",
      "chat gpt-4o",
      { output: [{ role: "assistant", finish_reason: "stop", parts: [{ type: "text", content: "Hello" }] }] },
    ],
  ])("%s: %s", async (name, op, expected) => {
    const call = (await callsOf(name)).find((one) => one.op_name === op);
    expect(call).toMatchObject(expected);
  });

  it("a failed model: its exception", async () => {
    for (const name of ["ai-sdk-4", "ai-sdk-5", "ai-sdk-6", "ai-sdk-7", "ai-sdk-7-legacy"]) {
      const failed = (await callsOf(name)).filter((call) => call["exception"] !== null);
      expect(failed.map((call) => call["exception"])).toEqual(failed.map(() => "model is down"));
      expect(failed.length).toBeGreaterThanOrEqual(2);
    }
  });
});
