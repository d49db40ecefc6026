import { afterAll, beforeAll, expect, it } from "vitest";
import { startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

type Usage = Readonly<Record<string, unknown>>;
type Carrier = "weave" | "langsmith" | "langsmith raw" | "attributes";

const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
const attribute = (key: string, value: unknown) =>
  typeof value === "number" ? { key, value: { intValue: value } } : text(key, JSON.stringify(value));

/** The attributes of a span that LangSmith's exporter makes of such a usage. */
const langSmith = ({ input_tokens, output_tokens, input_token_details, output_token_details }: Usage) => [
  attribute("gen_ai.usage.input_tokens", input_tokens),
  attribute("gen_ai.usage.output_tokens", output_tokens),
  ...(input_token_details === undefined
    ? []
    : [attribute("gen_ai.usage.input_token_details", input_token_details)]),
  ...(output_token_details === undefined
    ? []
    : [attribute("gen_ai.usage.output_token_details", output_token_details)]),
];

let projects = 0;
/** Reads the costs of a call with one usage, and the call's counts. */
async function costOf(model: string, usage: Usage, carrier: Carrier): Promise<Record<string, number>> {
  const project_id = `acme/parts-${++projects}`;
  if (carrier === "weave") {
    const call = {
      id: "a",
      trace_id: "t",
      op_name: "chat",
      started_at: "2026-01-01T00:00:00Z",
      ended_at: "2026-01-01T00:00:01Z",
      inputs: {},
      attributes: {},
      output: null,
      summary: { usage: { [model]: { requests: 1, ...usage } } },
    };
    await test.post(`/v2/${project_id}/calls/complete`, { batch: [call] });
  } else {
    const attributes =
      carrier === "langsmith raw"
        ? [...langSmith({ ...usage, input_token_details: undefined, output_token_details: undefined })]
        : carrier === "langsmith"
          ? langSmith(usage)
          : Object.entries(usage).map(([key, value]) => attribute(key, value));
    const raw = carrier === "langsmith raw" ? [attribute("langsmith.metadata.usage_metadata", usage)] : [];
    const span = {
      traceId: "0af7651916cd43dd8448eb211c80319c",
      spanId: "b7ad6b7169203331",
      name: "chat",
      startTimeUnixNano: "1767225600000000000",
      endTimeUnixNano: "1767225601000000000",
      attributes: [text("gen_ai.response.model", model), ...attributes, ...raw],
    };
    const scope = { name: carrier === "attributes" ? "anybody" : "langsmith" };
    await test.post("/otel/v1/traces", {
      resourceSpans: [
        {
          resource: { attributes: [text("sumtree.project", project_id)] },
          scopeSpans: [{ scope, spans: [span] }],
        },
      ],
    });
  }
  const response = await test.post("/usage/stats", {
    project_id,
    start: "2026-01-01T00:00:00Z",
    end: "2026-01-02T00:00:00Z",
    include_costs: true,
  });
  return (response.json() as { total: Record<string, number> }).total;
}

const HAIKU = "claude-haiku-4-5";
const inAnyCarrier: readonly (readonly [what: string, usage: Usage, expected: object])[] = [
  [
    "cache writes of an hour without others",
    {
      input_tokens: 12_010,
      output_tokens: 15,
      input_token_details: { cache_read: 0, cache_creation: 0, ephemeral_1h_input_tokens: 12_000 },
    },
    { cache_creation_input_tokens: 12_000, total_cost: expect.closeTo(0.024085, 9) },
  ],
  [
    "cache writes of both lengths, and reads",
    {
      input_tokens: 10_000,
      output_tokens: 0,
      input_token_details: {
        cache_read: 5000,
        cache_creation: 0,
        ephemeral_5m_input_tokens: 1000,
        ephemeral_1h_input_tokens: 3000,
      },
    },
    {
      cache_read_input_tokens: 5000,
      cache_creation_input_tokens: 4000,
      total_cost: expect.closeTo(0.0005 + 0.00125 + 0.006 + 0.001, 9),
    },
  ],
  [
    "the sum of writes with its parts",
    {
      input_tokens: 4000,
      output_tokens: 0,
      input_token_details: { cache_creation: 4000, ephemeral_5m_input_tokens: 4000 },
    },
    { cache_creation_input_tokens: 4000, total_cost: expect.closeTo(0.005, 9) },
  ],
  [
    "reads named by the tier",
    { input_tokens: 1000, output_tokens: 10, input_token_details: { flex_cache_read: 600 } },
    { cache_read_input_tokens: 600, prompt_tokens: 1000 },
  ],
];

it.each(
  inAnyCarrier.flatMap(([what, usage, expected]) =>
    (["weave", "langsmith", "langsmith raw"] as const).map(
      (carrier) => [carrier, what, usage, expected] as const,
    ),
  ),
)("LangChain's details, sent by %s: %s", async (carrier, _what, usage, expected) => {
  expect(await costOf(HAIKU, usage, carrier)).toMatchObject(expected);
});

it.each(["weave", "langsmith", "langsmith raw"] as const)(
  "LangChain's audio, sent by %s, is charged as audio",
  async (carrier) => {
    const usage = {
      input_tokens: 1000,
      output_tokens: 500,
      input_token_details: { audio: 900 },
      output_token_details: { audio: 400 },
    };
    const same = {
      prompt_tokens: 1000,
      completion_tokens: 500,
      prompt_tokens_details: { audio_tokens: 900 },
      completion_tokens_details: { audio_tokens: 400 },
    };
    const model = "gpt-4o-audio-preview";
    const [{ total_cost }, truth] = [await costOf(model, usage, carrier), await costOf(model, same, "weave")];
    expect(total_cost).toBeCloseTo(truth["total_cost"]!, 9);
    const asText = await costOf(model, { prompt_tokens: 1000, completion_tokens: 500 }, "weave");
    expect(total_cost).toBeGreaterThan(asText["total_cost"]! * 2);
  },
);

it.each([
  ["gpt-4o-audio-preview", "audio", "prompt_tokens_details", "input"],
  ["gpt-4o-audio-preview", "audio", "completion_tokens_details", "output"],
  ["gemini-2.5-flash-image", "image", "completion_tokens_details", "output"],
] as const)("official attributes of %s: %s in %s are charged as such", async (model, kind, details, side) => {
  const counts = { prompt_tokens: 1000, completion_tokens: 500 };
  const truth = await costOf(model, { ...counts, [details]: { [`${kind}_tokens`]: 300 } }, "weave");
  const attributes = { "gen_ai.usage.input_tokens": 1000, "gen_ai.usage.output_tokens": 500 };
  const told = { ...attributes, [`gen_ai.usage.${kind}.${side}_tokens`]: 300 };
  const { total_cost } = await costOf(model, told, "attributes");
  expect(total_cost).toBeCloseTo(truth["total_cost"]!, 9);
  expect(total_cost).not.toBeCloseTo((await costOf(model, attributes, "attributes"))["total_cost"]!, 9);
});

it("the conventions' attributes of cached audio are charged as cached audio", async () => {
  const model = "gpt-realtime";
  const truth = await costOf(
    model,
    {
      input_tokens: 1000,
      output_tokens: 0,
      input_token_details: {
        audio_tokens: 900,
        cached_tokens: 600,
        cached_tokens_details: { audio_tokens: 500 },
      },
    },
    "weave",
  );
  const told = {
    "gen_ai.usage.input_tokens": 1000,
    "gen_ai.usage.output_tokens": 0,
    "gen_ai.usage.audio.input_tokens": 900,
    "gen_ai.usage.cache_read.input_tokens": 600,
    "gen_ai.usage.audio.cache_read.input_tokens": 500,
  };
  expect((await costOf(model, told, "attributes"))["total_cost"]).toBeCloseTo(truth["total_cost"]!, 9);
});
