import { afterAll, beforeAll, expect, it } from "vitest";
import { authorization, startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

const project_id = "acme/basis";

interface Sent {
  readonly id: string;
  readonly scope: string;
  readonly attributes: Readonly<Record<string, string | number>>;
}

function exported({ id, scope, attributes }: Sent): object {
  const valueOf = (value: string | number) =>
    typeof value === "number" ? { intValue: String(value) } : { stringValue: value };
  const span = {
    traceId: id.repeat(2),
    spanId: id,
    name: "chat",
    startTimeUnixNano: "1767225600000000000",
    endTimeUnixNano: "1767225601000000000",
    attributes: Object.entries(attributes).map(([key, value]) => ({ key, value: valueOf(value) })),
  };
  const resource = { attributes: [{ key: "sumtree.project", value: { stringValue: project_id } }] };
  return { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: scope }, spans: [span] }] }] };
}

const counts = { "gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 5 };
const cases = [
  { basis: "producer", producer: "Langfuse", scope: "langfuse-sdk", more: {} },
  { basis: "words", producer: "(other)", scope: "somebody's", more: {} },
  {
    basis: "guess",
    producer: "(other)",
    scope: "somebody's",
    more: { "gen_ai.usage.cache_read.input_tokens": 90 },
  },
];

async function counted(basis: string, producer: string): Promise<number> {
  const { payload } = await test.app.inject({ url: "/metrics", headers: { authorization: authorization() } });
  const line = payload
    .split("\n")
    .find((one) => one.startsWith(`sumtree_usage_read_total{basis="${basis}",producer="${producer}"}`));
  return Number(line?.split(" ").at(-1) ?? 0);
}

it.each(cases.map((one, n) => ({ ...one, n })))(
  "usage read by $basis is reported in the receipt, in reads and in a metric",
  async ({ basis, producer, scope, more, n }) => {
    const before = await counted(basis, producer);
    const id = `000000000000${n}aaa`;
    const attributes = { ...counts, ...more };
    const sent = await test.post("/otel/v1/traces", exported({ id, scope, attributes }));
    expect([sent.status, sent.text]).toEqual([200, "{}"]);
    const receipt = await test.post("/call/receipt", { project_id, call_id: id });
    expect(receipt.json().usage_basis).toBe(basis);
    const read = await test.post("/call/read", { project_id, id });
    expect(read.json().call.attributes.otel.usage_basis).toBe(basis);
    expect(await counted(basis, producer)).toBe(before + 1);
  },
);

it("a call that is not a span has none", async () => {
  const at = "2026-01-01T00:00:00Z";
  const call = { id: "hand", trace_id: "hand", op_name: "ask", started_at: at, ended_at: at };
  const more = { inputs: {}, attributes: {}, output: null, summary: { usage: { m: { prompt_tokens: 1 } } } };
  await test.post(`/v2/${project_id}/calls/complete`, { batch: [{ ...call, ...more }] });
  const receipt = await test.post("/call/receipt", { project_id, call_id: "hand" });
  expect(receipt.json().usage_basis).toBeNull();
});
