import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { bearer, startGateway, type TestGateway } from "../helpers/start-gateway.ts";
import { until } from "../helpers/until.ts";

let test: TestGateway;
beforeAll(async () => {
  test = await startGateway();
});
afterAll(() => test.close());
beforeEach(() => test.upstream.forget());

/** A completion as its provider tells it, and what each unit of it costs: the quantity, and USD for a million. */
interface Served {
  readonly what: string;
  readonly model: string;
  readonly usage: Readonly<Record<string, unknown>>;
  /** Beside the usage, as OpenAI has it. */
  readonly tier?: string;
  /** The same as OpenTelemetry has it. */
  readonly span: Readonly<Record<string, unknown>>;
  readonly bill: Readonly<Record<string, readonly [quantity: number, usdPerMillion: number | null]>>;
}

const openai = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 };
const openaiSpan = { "gen_ai.usage.input_tokens": 1000, "gen_ai.usage.output_tokens": 100 };
const claude = { input_tokens: 500, output_tokens: 80 };
const claudeSpan = { "gen_ai.usage.input_tokens": 500, "gen_ai.usage.output_tokens": 80 };

const served: readonly Served[] = [
  {
    what: "cached and written input, reasoning within the output",
    model: "gpt-6-luna",
    usage: {
      ...openai,
      prompt_tokens_details: { cached_tokens: 300, cache_write_tokens: 200 },
      completion_tokens_details: { reasoning_tokens: 60 },
    },
    span: {
      ...openaiSpan,
      "gen_ai.usage.cache_read.input_tokens": 300,
      "gen_ai.usage.cache_creation.input_tokens": 200,
    },
    bill: {
      uncached_prompt_tokens: [500, 0.1],
      completion_tokens: [100, 0.5],
      cache_read_input_tokens: [300, 0.01],
      cache_creation_input_tokens: [200, 0.125],
    },
  },
  {
    what: "the flex tier",
    model: "gpt-5",
    tier: "flex",
    usage: openai,
    span: { ...openaiSpan, "openai.response.service_tier": "flex" },
    bill: { uncached_prompt_tokens: [1000, 0.625], completion_tokens: [100, 5] },
  },
  {
    what: "the priority tier",
    model: "gpt-5-mini",
    tier: "priority",
    usage: { ...openai, prompt_tokens_details: { cached_tokens: 400 } },
    span: {
      ...openaiSpan,
      "gen_ai.usage.cache_read.input_tokens": 400,
      "openai.response.service_tier": "priority",
    },
    bill: {
      uncached_prompt_tokens: [600, 0.45],
      completion_tokens: [100, 3.6],
      cache_read_input_tokens: [400, 0.045],
    },
  },
  {
    what: "the default tier",
    model: "gpt-4o",
    tier: "default",
    usage: openai,
    span: { ...openaiSpan, "openai.response.service_tier": "default" },
    bill: { uncached_prompt_tokens: [1000, 2.5], completion_tokens: [100, 10] },
  },
  {
    what: "a tier without a price",
    model: "gpt-4o",
    tier: "scale",
    usage: openai,
    span: { ...openaiSpan, "openai.response.service_tier": "scale" },
    bill: { uncached_prompt_tokens: [1000, null], completion_tokens: [100, null] },
  },
  {
    what: "audio in and out",
    model: "gpt-audio",
    usage: {
      ...openai,
      prompt_tokens_details: { audio_tokens: 700 },
      completion_tokens_details: { audio_tokens: 90 },
    },
    span: {
      ...openaiSpan,
      "llm.token_count.prompt_details.audio": 700,
      "llm.token_count.completion_details.audio": 90,
    },
    bill: {
      input_audio_tokens: [700, 32],
      output_audio_tokens: [90, 64],
      uncached_prompt_tokens: [300, 2.5],
      completion_tokens: [10, 10],
    },
  },
  {
    what: "writes of both lengths and searches, in a batch",
    model: "claude-sonnet-4-5",
    usage: {
      ...claude,
      cache_read_input_tokens: 3000,
      cache_creation_input_tokens: 1000,
      cache_creation: { ephemeral_5m_input_tokens: 400, ephemeral_1h_input_tokens: 600 },
      server_tool_use: { web_search_requests: 2 },
      service_tier: "batch",
    },
    span: {
      "gen_ai.provider.name": "anthropic",
      // As the conventions have it, with the cached tokens.
      "gen_ai.usage.input_tokens": 4500,
      "gen_ai.usage.output_tokens": 80,
      "gen_ai.usage.cache_read.input_tokens": 3000,
      "gen_ai.usage.cache_creation.input_tokens": 1000,
      "anthropic.usage.cache_creation.ephemeral_1h_input_tokens": 600,
      "anthropic.usage.server_tool_use.web_search_requests": 2,
      "anthropic.response.service_tier": "batch",
    },
    bill: {
      cache_write_1h_tokens: [600, 3],
      web_searches: [2, 10_000],
      uncached_prompt_tokens: [500, 1.5],
      completion_tokens: [80, 7.5],
      cache_read_input_tokens: [3000, 0.15],
      cache_creation_input_tokens: [400, 1.875],
    },
  },
  {
    what: "standard tier of Anthropic",
    model: "claude-haiku-4-5",
    usage: { ...claude, service_tier: "standard" },
    span: { ...claudeSpan, "anthropic.response.service_tier": "standard" },
    bill: { uncached_prompt_tokens: [500, 1], completion_tokens: [80, 5] },
  },
  {
    what: "hits and misses of DeepSeek's cache",
    model: "deepseek-v4-pro",
    usage: { ...openai, prompt_cache_hit_tokens: 640, prompt_cache_miss_tokens: 360 },
    span: { ...openaiSpan, "gen_ai.usage.cache_read.input_tokens": 640 },
    bill: {
      uncached_prompt_tokens: [360, 0.435],
      completion_tokens: [100, 0.87],
      cache_read_input_tokens: [640, 0.003625],
    },
  },
  {
    what: "reasoning beside the output of xAI",
    model: "grok-3-mini",
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 40,
      total_tokens: 1100,
      completion_tokens_details: { reasoning_tokens: 60 },
    },
    span: openaiSpan,
    bill: { uncached_prompt_tokens: [1000, 0.3], completion_tokens: [100, 0.5] },
  },
  {
    what: "a fee for the request",
    model: "sonar-pro",
    usage: openai,
    span: openaiSpan,
    bill: { uncached_prompt_tokens: [1000, 3], completion_tokens: [100, 15], requests: [1, 14_000] },
  },
];

/** Before DeepSeek had peak hours. */
const AT = "2026-06-01T12:00:00Z";
let projects = 0;
const freshProject = (): string => `acme/served-${projects++}`;

const answerOf = ({ model, usage, tier }: Served) => ({
  id: "chatcmpl-AbC0dEf1GhI2",
  object: "chat.completion",
  model,
  ...(tier === undefined ? {} : { service_tier: tier }),
  choices: [0, 1].map((index) => ({
    index,
    message: { role: "assistant", content: "yes" },
    finish_reason: "stop",
  })),
  usage,
});

/** Of two choices; the tier stands beside every chunk, the usage at the end. */
function streamOf(one: Served): string {
  const { choices, usage, ...facts } = answerOf(one);
  const chunk = (part: object): string => `data: ${JSON.stringify({ ...facts, ...part })}\n\n`;
  const deltas = choices.map(({ index, message }) =>
    chunk({ choices: [{ index, delta: message, finish_reason: null }] }),
  );
  const ends = choices.map(({ index }) => chunk({ choices: [{ index, delta: {}, finish_reason: "stop" }] }));
  return [...deltas, ...ends, chunk({ choices: [], usage }), "data: [DONE]\n\n"].join("");
}

async function throughGateway(one: Served, body: string, type: string, ending: "end" | "reset" = "end") {
  const project_id = freshProject();
  const chunks = [Buffer.from(body), 5];
  test.upstream.fail({ kind: "bytes", chunks, headers: { "content-type": type }, ending });
  const response = await fetch(`${test.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { ...bearer, "openai-project": project_id, "content-type": "application/json" },
    body: JSON.stringify({
      model: one.model,
      n: 2,
      messages: [{ role: "user", content: "12345678" }],
      stream: type === "text/event-stream",
    }),
  });
  await response.text().catch(() => undefined);
  await until(async () => (await idsIn(project_id)).length === 1);
  return project_id;
}

async function idsIn(project_id: string): Promise<readonly string[]> {
  const answer = await test.post("/trace/usage", { project_id });
  return Object.keys(answer.json().call_usage as object);
}

async function fromSummary(one: Served): Promise<string> {
  const project_id = freshProject();
  const batch = [
    {
      project_id,
      id: "c",
      trace_id: "t",
      op_name: "ask",
      started_at: AT,
      ended_at: AT,
      inputs: {},
      attributes: {},
      output: null,
      summary: {
        usage: {
          [one.model]: { ...one.usage, ...(one.tier === undefined ? {} : { service_tier: one.tier }) },
        },
      },
    },
  ];
  const stored = await test.post(`/v2/${project_id}/calls/complete`, { batch });
  expect(stored.json(), stored.text).toEqual({ rejected: [] });
  return project_id;
}

async function fromSpan({ model, span }: Served): Promise<string> {
  const project_id = freshProject();
  const attributes = Object.entries({ "gen_ai.response.model": model, ...span }).map(([key, value]) => ({
    key,
    value: typeof value === "number" ? { intValue: String(value) } : { stringValue: value },
  }));
  const nanos = String(BigInt(Date.parse(AT)) * 1_000_000n);
  const response = await test.app.inject({
    method: "POST",
    url: "/otel/v1/traces",
    headers: { ...bearer, "content-type": "application/json", project_id },
    payload: {
      resourceSpans: [
        {
          scopeSpans: [
            {
              spans: [
                {
                  traceId: "0af7651916cd43dd8448eb211c80319c",
                  spanId: "b7ad6b7169203331",
                  name: "chat",
                  startTimeUnixNano: nanos,
                  endTimeUnixNano: nanos,
                  attributes,
                },
              ],
            },
          ],
        },
      ],
    },
  });
  expect(response.statusCode, response.body).toBe(200);
  return project_id;
}

const pico = (usd: number): number => Math.round(usd * 1e12);
const sum = (amounts: readonly (number | null)[]): number | null =>
  amounts.every((amount) => amount === null)
    ? null
    : amounts.reduce<number>((all, amount) => all + (amount ?? 0), 0);

interface ReceiptLine {
  readonly unit: string;
  readonly quantity: number;
  readonly rate_usd: number | null;
  readonly amount_usd: number | null;
  readonly tier: string;
}

/** What every route says of the only call of a project. */
async function expectBill(
  project_id: string,
  { bill, model, tier, usage }: Served,
  window: object,
): Promise<void> {
  const [call_id] = await idsIn(project_id);
  const [receipt, rolledUp, stats] = (
    await Promise.all([
      test.post("/call/receipt", { project_id, call_id }),
      test.post("/trace/usage", { project_id, include_costs: true }),
      test.post("/usage/stats", { project_id, ...window, include_costs: true }),
    ])
  ).map((answer) => answer.json());
  const lines = receipt.lines as readonly ReceiptLine[];
  const told = lines.map(({ unit, quantity, rate_usd }) => [
    unit,
    [quantity, rate_usd === null ? null : pico(rate_usd)],
  ]);
  const rates = Object.entries(bill).map(([unit, [quantity, usd]]) => [
    unit,
    [quantity, usd === null ? null : Math.round(usd * 1e6)],
  ]);
  expect(Object.fromEntries(told)).toEqual(Object.fromEntries(rates));
  const expected = sum(
    Object.values(bill).map(([quantity, usd]) => (usd === null ? null : Math.round(quantity * usd * 1e6))),
  );
  const totalOf = (total: number | null) => (total === null ? null : pico(total));
  expect(totalOf(receipt.total.total_cost)).toBe(expected);
  const servedAt = tier ?? usage["service_tier"] ?? "standard";
  const usual = ["default", "standard"].includes(servedAt as string) ? "standard" : servedAt;
  expect(new Set(lines.map((line) => line.tier))).toEqual(new Set([usual]));

  const costs = Object.entries(rolledUp.call_usage[call_id!][model] as Record<string, number | null>)
    .filter(([name]) => name.endsWith("_cost"))
    .map(([, cost]) => totalOf(cost));
  expect(sum([...costs, totalOf(receipt.total.other_cost)])).toBe(expected);

  expect(totalOf(stats.total.total_cost)).toBe(expected);
  expect(stats.unpriced).toMatchObject(expected === null ? [{ llm: model, service_tier: usual }] : []);
  expect(receipt.unpriced.map((one: { unit: string; tier: string }) => [one.unit, one.tier])).toEqual(
    expected === null ? Object.keys(bill).map((unit) => [unit, usual]) : [],
  );
}

const ofDay = { start: "2026-06-01T00:00:00Z", end: "2026-06-02T00:00:00Z" };
const untilNow = () => ({ start: new Date(Date.now() - 3_600_000).toISOString() });
/** Calls of the gateway start when the test runs: no price by the hour. */
const atAnyTime = served.filter(({ model }) => !model.startsWith("deepseek"));

describe("what was served is billed", () => {
  it.each(served.map((one) => [one.what, one] as const))("from a call's summary: %s", async (_, one) => {
    await expectBill(await fromSummary(one), one, ofDay);
  });

  it.each(served.map((one) => [one.what, one] as const))("from a span: %s", async (_, one) => {
    await expectBill(await fromSpan(one), one, ofDay);
  });

  it.each(atAnyTime.map((one) => [one.what, one] as const))("through the gateway: %s", async (_, one) => {
    const project = await throughGateway(one, JSON.stringify(answerOf(one)), "application/json");
    await expectBill(project, one, untilNow());
  });

  it.each(atAnyTime.map((one) => [one.what, one] as const))("through a stream: %s", async (_, one) => {
    const project = await throughGateway(one, streamOf(one), "text/event-stream");
    await expectBill(project, one, untilNow());
  });

  it("at its tier where the stream breaks off and the rest is estimated", async () => {
    const one = served.find(({ what }) => what === "the flex tier")!;
    const first = streamOf(one).split("\n\n").slice(0, 2).join("\n\n") + "\n\n";
    const project_id = await throughGateway(one, first, "text/event-stream", "reset");
    const [call_id] = await idsIn(project_id);
    const { lines, unpriced } = (await test.post("/call/receipt", { project_id, call_id })).json();
    expect(unpriced).toEqual([]);
    expect(lines.map((line: ReceiptLine) => [line.unit, line.rate_usd, line.tier])).toEqual([
      ["uncached_prompt_tokens", 0.000_000_625, "flex"],
      ["completion_tokens", 0.000_005, "flex"],
    ]);
  });

  it("from Gemini's own answer, thoughts, tools and audio included", async () => {
    const one: Served = {
      what: "Gemini",
      model: "gemini-2.5-flash",
      usage: {
        promptTokenCount: 1000,
        cachedContentTokenCount: 200,
        candidatesTokenCount: 30,
        thoughtsTokenCount: 70,
        toolUsePromptTokenCount: 50,
        totalTokenCount: 1150,
        promptTokensDetails: [
          { modality: "TEXT", tokenCount: 600 },
          { modality: "AUDIO", tokenCount: 400 },
        ],
        cacheTokensDetails: [{ modality: "AUDIO", tokenCount: 200 }],
      },
      span: {},
      bill: {
        cache_audio_read_tokens: [200, 0.1],
        input_audio_tokens: [200, 1],
        uncached_prompt_tokens: [650, 0.3],
        completion_tokens: [100, 2.5],
      },
    };
    await expectBill(await fromSummary(one), one, ofDay);
  });
});
