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

interface Sent {
  readonly model: string;
  readonly usage: Usage;
  readonly carrier: Carrier;
}

/** Calls and spans, each a trace of its own. */
const sent: Sent[] = [];
const totals = new Map<string, Record<string, number>>();
const idOf = (at: number): string => String(at + 1).padStart(32, "0");
const told = (model: string, usage: Usage, carrier: Carrier) => {
  const trace = idOf(sent.push({ model, usage, carrier }) - 1);
  return () => totals.get(trace)!;
};

beforeAll(async () => {
  const project_id = "acme/parts";
  const [started_at, ended_at] = ["2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"];
  const call = { op_name: "chat", started_at, ended_at, inputs: {}, attributes: {}, output: null };
  const batch = sent.flatMap(({ model, usage, carrier }, at) =>
    carrier === "weave"
      ? [{ ...call, id: "a", trace_id: idOf(at), summary: { usage: { [model]: { requests: 1, ...usage } } } }]
      : [],
  );
  const stored = await test.post(`/v2/${project_id}/calls/complete`, { batch });
  expect(stored.json()).toEqual({ rejected: [] });
  const scopeSpans = sent.flatMap((one, at) => (one.carrier === "weave" ? [] : [spanOf(one, idOf(at))]));
  const resource = { attributes: [text("sumtree.project", project_id)] };
  const spans = await test.post("/otel/v1/traces", { resourceSpans: [{ resource, scopeSpans }] });
  expect([spans.status, spans.text]).toEqual([200, "{}"]);
  const { groups } = (
    await test.post("/usage/stats", {
      project_id,
      start: "2026-01-01T00:00:00Z",
      end: "2026-01-02T00:00:00Z",
      include_costs: true,
      group_by: ["trace_id"],
      limit: 1000,
    })
  ).json() as { groups: { key: { trace_id: string }; total: Record<string, number> }[] };
  for (const { key, total } of groups) totals.set(key.trace_id, total);
});

function spanOf({ model, usage, carrier }: Sent, traceId: string): object {
  const attributes =
    carrier === "attributes"
      ? Object.entries(usage).map(([key, value]) => attribute(key, value))
      : carrier === "langsmith"
        ? langSmith(usage)
        : [
            ...langSmith({ ...usage, input_token_details: undefined, output_token_details: undefined }),
            attribute("langsmith.metadata.usage_metadata", usage),
          ];
  const span = {
    traceId,
    spanId: "b7ad6b7169203331",
    name: "chat",
    startTimeUnixNano: "1767225600000000000",
    endTimeUnixNano: "1767225601000000000",
    attributes: [text("gen_ai.response.model", model), ...attributes],
  };
  return { scope: { name: carrier === "attributes" ? "anybody" : "langsmith" }, spans: [span] };
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

const CARRIERS = ["weave", "langsmith", "langsmith raw"] as const;

it.each(
  inAnyCarrier.flatMap(([what, usage, expected]) =>
    CARRIERS.map((carrier) => [carrier, what, told(HAIKU, usage, carrier), expected] as const),
  ),
)("LangChain's details, sent by %s: %s", (_carrier, _what, total, expected) => {
  expect(total()).toMatchObject(expected);
});

const AUDIO = "gpt-4o-audio-preview";
const counts = { prompt_tokens: 1000, completion_tokens: 500 };
const attributes = { "gen_ai.usage.input_tokens": 1000, "gen_ai.usage.output_tokens": 500 };
const audio = {
  input_tokens: 1000,
  output_tokens: 500,
  input_token_details: { audio: 900 },
  output_token_details: { audio: 400 },
};
const asAudio = {
  ...counts,
  prompt_tokens_details: { audio_tokens: 900 },
  completion_tokens_details: { audio_tokens: 400 },
};
const cachedAudio = {
  input_tokens: 1000,
  output_tokens: 0,
  input_token_details: {
    audio_tokens: 900,
    cached_tokens: 600,
    cached_tokens_details: { audio_tokens: 500 },
  },
};
const ofCachedAudio = {
  ...attributes,
  "gen_ai.usage.output_tokens": 0,
  "gen_ai.usage.audio.input_tokens": 900,
  "gen_ai.usage.cache_read.input_tokens": 600,
  "gen_ai.usage.audio.cache_read.input_tokens": 500,
};
const official = (
  [
    [AUDIO, "audio", "prompt_tokens_details", "input"],
    [AUDIO, "audio", "completion_tokens_details", "output"],
    ["gemini-2.5-flash-image", "image", "completion_tokens_details", "output"],
  ] as const
).map(
  ([model, kind, details, side]) =>
    [
      model,
      "attributes",
      { ...attributes, [`gen_ai.usage.${kind}.${side}_tokens`]: 300 },
      { ...counts, [details]: { [`${kind}_tokens`]: 300 } },
    ] as const,
);

/** Usage as a carrier tells it, and as OpenAI does. */
const equals: readonly (readonly [model: string, carrier: Carrier, usage: Usage, same: Usage])[] = [
  ...CARRIERS.map((carrier) => [AUDIO, carrier, audio, asAudio] as const),
  ...official,
  ["gpt-realtime", "attributes", ofCachedAudio, cachedAudio],
];

it.each(
  equals.map(([model, carrier, usage, same]) => ({
    model,
    carrier,
    total: told(model, usage, carrier),
    truth: told(model, same, "weave"),
    asText: told(model, counts, "weave"),
  })),
)("audio and images of $model, sent by $carrier, are charged as such", ({ total, truth, asText }) => {
  expect(total()["total_cost"]).toBeCloseTo(truth()["total_cost"]!, 9);
  expect(total()["total_cost"]).not.toBeCloseTo(asText()["total_cost"]!, 9);
});
