import { afterAll, beforeAll, expect, it } from "vitest";
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

it.each(RECORDED)(
  "the recorded trace of %s has correct usage at every level, also if it is sent twice",
  async (name) => {
    const request = recorded(name);
    const spans = spansOf(request);
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
  },
);
