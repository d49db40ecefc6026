import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { materializeAll } from "../helpers/materialize.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";
import { bearer } from "../helpers/start-gateway.ts";
import { until } from "../helpers/until.ts";

const MODEL = "gpt-4o";
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const [WRAPPER, CLIENT] = ["b7ad6b7169203331", "00f067aa0ba902b7"];
const COMPLETION = "chatcmpl-AbC0dEf1GhI2jKl3MnO4pQr5StU6V";
const counts = { prompt_tokens: 400, completion_tokens: 100, total_tokens: 500 };

let upstream: Server;
let test: TestApp;
beforeAll(async () => {
  upstream = createServer((request, response) => {
    request.resume();
    const answer = request.url!.endsWith("/chat/completions")
      ? {
          id: COMPLETION,
          model: MODEL,
          choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
          usage: { ...counts, cost: 0.0042, is_byok: false },
        }
      : { data: [{ url: "https://example.com/1" }], usage: { cost_in_usd_ticks: 700_000_000 } };
    response.setHeader("content-type", "application/json").end(JSON.stringify(answer));
  }).listen(0, "127.0.0.1");
  await until(() => upstream.listening);
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`;
  test = await startApp({ settings: { CHAT_UPSTREAM_URL: url, CHAT_UPSTREAM_API_KEY: "k" } });
  await test.app.listen({ host: "127.0.0.1", port: 0 });
});
afterAll(async () => {
  await test.close();
  upstream.close();
});

async function relay(project: string, path: string, body: object): Promise<void> {
  const { port } = test.app.server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}/v1/${path}`, {
    method: "POST",
    headers: {
      ...bearer,
      "content-type": "application/json",
      "x-sumtree-project": project,
      traceparent: `00-${TRACE}-${CLIENT}-01`,
    },
    body: JSON.stringify(body),
  });
  expect(response.status, await response.text()).toBe(200);
  await until(async () => (await statsOf(project)).total.calls > 0);
}

interface Stats {
  readonly groups: readonly { readonly key: { readonly llm: string | null }; readonly total: Total }[];
  readonly total: Total;
  readonly unpriced: readonly object[];
}
type Total = Readonly<Record<"calls" | "calls_stated" | "requests" | "total_tokens", number>> &
  Readonly<Record<"stated_cost" | "total_cost", number | null>> & { readonly partial: boolean };

async function statsOf(project_id: string, more: object = {}): Promise<Stats> {
  const window = { start: new Date(Date.now() - 3_600_000), end: new Date(Date.now() + 3_600_000) };
  const asked = { project_id, ...window, group_by: ["llm"], include_costs: true, ...more };
  const response = await test.post("/usage/stats", asked);
  expect(response.status, response.text).toBe(200);
  return response.json() as Stats;
}

it("counts a stated cost once: at the gateway, in a span of the completion, in a wrapper", async () => {
  const project = "acme/relayed";
  await relay(project, "chat/completions", { model: MODEL, messages: [{ role: "user", content: "Hi" }] });
  const span = (spanId: string, parentSpanId: string, cost: number, more: object[]) => ({
    traceId: TRACE,
    spanId,
    parentSpanId,
    name: "chat",
    startTimeUnixNano: `${Date.now()}000000`,
    endTimeUnixNano: `${Date.now()}000000`,
    attributes: [
      { key: "gen_ai.response.model", value: { stringValue: MODEL } },
      { key: "gen_ai.usage.input_tokens", value: { intValue: 400 } },
      { key: "gen_ai.usage.output_tokens", value: { intValue: 100 } },
      { key: "gen_ai.usage.cost", value: { doubleValue: cost } },
      ...more,
    ],
  });
  const id = { key: "gen_ai.response.id", value: { stringValue: COMPLETION } };
  const spans = [span(CLIENT, WRAPPER, 0.004, [id]), span(WRAPPER, "", 0.0042, [])];
  const resource = { attributes: [{ key: "sumtree.project", value: { stringValue: project } }] };
  await test.post("/otel/v1/traces", { resourceSpans: [{ resource, scopeSpans: [{ spans }] }] });
  const { total } = await statsOf(project);
  expect(total).toMatchObject({ calls: 3, total_tokens: 500, stated_cost: 0.0042, calls_stated: 1 });
  const receipt = await test.post("/call/receipt", { project_id: project, call_id: WRAPPER });
  expect(receipt.json()).toMatchObject({
    usage: [
      {
        reported: { stated_cost: 0.0042 },
        counted_below: { stated_cost: 0.0042, units: {} },
        own: { stated_cost: null, units: {} },
      },
    ],
    total: { stated_cost: 0.0042, total_cost: 0.002 },
  });
});

it("keeps a cost without tokens", async () => {
  const project = "acme/images";
  await relay(project, "images/generations", { model: "grok-2-image", prompt: "A forest" });
  expect((await statsOf(project)).total).toMatchObject({
    requests: 1,
    total_tokens: 0,
    stated_cost: 0.07,
    calls_stated: 1,
  });
});

const call = (id: string, usage: object, more: object = {}) => ({
  id,
  trace_id: `trace-${id}`,
  op_name: "op",
  started_at: "2026-01-01T10:10:00Z",
  ended_at: "2026-01-01T10:10:01Z",
  inputs: {},
  attributes: {},
  output: null,
  summary: { usage },
  ...more,
});
it("never counts a report of a cost alone instead of the tokens of the same completion", async () => {
  const project = "acme/cost-alone";
  const of = { trace_id: "t", output: { id: COMPLETION, model: MODEL, choices: [] } };
  const batch = [
    call("a", { [MODEL]: { requests: 1, ...counts, cost: 0.01 } }, of),
    call("b", { [MODEL]: { cost: 0.02 } }, { ...of, parent_id: "a" }),
  ];
  await test.post(`/v2/${project}/calls/complete`, { batch });
  const { total } = await statsOf(project, DAY);
  expect(total).toMatchObject({ total_tokens: 500, stated_cost: 0.01, calls_stated: 1, partial: false });
});

const DAY = { start: "2026-01-01T00:00:00Z", end: "2026-01-02T00:00:00Z" };

it("sums stated costs beside computed ones, in stored hours as before, and null is not 0", async () => {
  const project = "acme/mixed";
  const used = { requests: 1, ...counts };
  const wrapper = { id: "wrapper", trace_id: "trace-child", attributes: { weave: { source: "python-sdk" } } };
  const batch = [
    call("stated", { [MODEL]: { ...used, cost: 0.01 } }),
    call("free", { "claude-haiku-4-5": { ...used, cost: 0 } }),
    call("silent", { "gpt-4o-mini": used }),
    call("child", { [MODEL]: used }, { parent_id: "wrapper" }),
    // what is left of it is a stated cost alone
    call("wrapper", { [MODEL]: { ...used, cost: 0.03 }, "no-such-model": { cost: 0.02 } }, wrapper),
  ];
  const stored = await test.post(`/v2/${project}/calls/complete`, { batch });
  expect(stored.json()).toEqual({ rejected: [] });
  const live = await statsOf(project, { ...DAY, order_by: "stated_cost" });
  expect(live.total).toMatchObject({
    calls: 5,
    requests: 4,
    stated_cost: 0.06,
    calls_stated: 4,
    partial: false,
  });
  expect(live.unpriced).toEqual([]);
  const shown = live.groups.map(({ key, total }) => [key.llm, total.stated_cost, total.calls_stated]);
  expect(shown).toEqual([
    [MODEL, 0.04, 2],
    ["no-such-model", 0.02, 1],
    ["claude-haiku-4-5", 0, 1],
    ["gpt-4o-mini", null, 0],
  ]);
  expect(await materializeAll(test.engine)).toBeGreaterThan(0);
  expect(await statsOf(project, { ...DAY, order_by: "stated_cost" })).toEqual(live);

  const { call_usage } = (
    await test.post("/trace/usage", { project_id: project, full_costs: true, include_costs: true })
  ).json() as {
    call_usage: Record<string, object>;
  };
  expect(call_usage["wrapper"]).toEqual(call_usage["child"]);

  const totalOf = async (call_id: string) => {
    const receipt = await test.post("/call/receipt", { project_id: project, call_id });
    const { lines, usage, total } = receipt.json() as {
      lines: object[];
      usage: { own: { stated_cost: number | null } }[];
      total: Total;
    };
    return [total.stated_cost, usage.map(({ own }) => own.stated_cost), lines.length];
  };
  expect(await totalOf("wrapper")).toEqual([0.05, [0.03, 0.02], 2]);
  expect(await totalOf("free")).toEqual([0, [0], 2]);
  expect(await totalOf("silent")).toEqual([null, [null], 2]);
});
