import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { bearer, startGateway, startSecondApp, type TestGateway } from "../helpers/start-gateway.ts";
import { until } from "../helpers/until.ts";

let test: TestGateway;
beforeAll(async () => {
  test = await startGateway();
});
afterAll(() => test.close());
beforeEach(() => test.upstream.forget());

/** A gateway whose store takes no call until it is released, and that has no journal. */
async function withSlowStore(settings: Readonly<Record<string, string>>) {
  const gate = Promise.withResolvers<void>();
  const insert: typeof test.engine.insert = async (table, rows, options) => {
    if (table === "calls") await gate.promise;
    return test.engine.insert(table, rows, options);
  };
  const app = await startSecondApp(test, settings, { engine: { ...test.engine, insert } });
  const complete = async (project: string, content: string): Promise<Response> =>
    fetch(`${app.url}/v1/chat/completions`, {
      method: "POST",
      headers: { ...bearer, "x-sumtree-project": project },
      body: JSON.stringify({ model: "m", messages: [{ role: "user", content }] }),
    });
  return { complete, release: gate.resolve, close: () => app.close() };
}

interface Call {
  readonly summary: { readonly usage: Readonly<Record<string, { readonly prompt_tokens: number }>> };
  readonly inputs: { readonly truncated?: true };
  readonly output: { readonly id: string; readonly truncated?: true };
  readonly attributes: { readonly sumtree: { readonly usage: string } };
}

async function callsOf(project: string): Promise<Call[]> {
  const { text } = await test.post("/calls/stream_query", { project_id: project });
  return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Call]));
}

const long = "What did it cost? ".repeat(20_000);

it("concurrent large completions are all counted, and content gives way", async () => {
  const { complete, release, close } = await withSlowStore({ RECORDER_MAX_PENDING_BYTES: "2000000" });
  const flood = await Promise.all(Array.from({ length: 20 }, () => complete("acme/flood", long)));
  expect(flood.map(({ status }) => status)).toEqual(flood.map(() => 200));
  release();
  await until(async () => (await callsOf("acme/flood")).length === 20);
  const calls = await callsOf("acme/flood");
  for (const { summary, attributes, output, inputs } of calls) {
    expect(summary.usage).toMatchObject({ "m-2026-11-01": { prompt_tokens: 80_005, requests: 1 } });
    expect([attributes.sumtree.usage, typeof output.id]).toEqual(["exact", "string"]);
    expect(inputs.truncated).toBe(output.truncated);
  }
  expect(calls.filter(({ inputs }) => inputs.truncated).length).toBeGreaterThan(10);
  await close();
});

it("requests that cannot be recorded are rejected before they cost, and pending ones recorded once the store is available", async () => {
  const { complete, release, close } = await withSlowStore({ RECORDER_MAX_PENDING_CALLS: "2" });
  for (let n = 0; n < 2; n++) expect((await complete("acme/many", "Hi")).status).toBe(200);
  const rejected = await complete("acme/many", "Hi");
  expect([rejected.status, rejected.headers.get("retry-after"), await rejected.json()]).toMatchObject([
    503,
    "5",
    { error: { code: "service_overloaded" } },
  ]);
  expect(test.upstream.seen).toHaveLength(2);
  release();
  await until(async () => (await complete("acme/many", "Hi")).status === 200);
  await until(async () => (await callsOf("acme/many")).length === 3);
  await close();
});
