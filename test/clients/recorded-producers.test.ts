import { afterAll, beforeAll, expect, it } from "vitest";
import { recorded, spansOf } from "../helpers/recorded-trace.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

type Usage = Record<string, Record<string, number | null>>;

const project_id = "acme/recorded";
/** What the mock provider answered, in the provider's own words. */
const OPENAI = {
  prompt_tokens: 420,
  completion_tokens: 37,
  total_tokens: 457,
  prompt_tokens_details: { cached_tokens: 128, cache_write_tokens: 64 },
};
const ANTHROPIC = {
  input_tokens: 215,
  cache_read_input_tokens: 801,
  cache_creation_input_tokens: 300,
  output_tokens: 50,
};
const EMBEDDING = { prompt_tokens: 8, total_tokens: 8 };
const GPT = "gpt-4o-2024-08-06";
const CLAUDE = "claude-sonnet-4-5-20250929";

/** An answer that a producer tells a part of: what it leaves out, it never sends (docs/clients.md). */
const without = <Answer extends object>(answer: Answer, ...names: string[]): object =>
  Object.fromEntries(Object.entries(answer).filter(([name]) => !names.includes(name)));
const WITHOUT_CACHE = without(OPENAI, "prompt_tokens_details");
const CACHE_READ_ONLY = { ...OPENAI, prompt_tokens_details: { cached_tokens: 128 } };
const CACHE_WRITTEN_ONLY = { ...OPENAI, prompt_tokens_details: { cache_write_tokens: 64 } };

const times = (count: number, model: string, usage: object) =>
  Array.from({ length: count }, () => [model, usage] as const);

it.each([
  [
    "ai-sdk-5-providers",
    [...times(2, GPT, CACHE_WRITTEN_ONLY), ...times(2, CLAUDE, ANTHROPIC), ...times(1, GPT, OPENAI)],
  ],
  ["ai-sdk-6-providers", [...times(3, GPT, OPENAI), ...times(2, CLAUDE, ANTHROPIC)]],
  ["anthropic-sdk", times(2, CLAUDE, ANTHROPIC)],
  ["openllmetry-anthropic", times(2, CLAUDE, ANTHROPIC)],
  [
    "openllmetry-bedrock",
    [
      ...times(1, "claude-sonnet-4-5-20250929-v1:0", { input_tokens: 215, output_tokens: 50 }),
      ...times(1, "nova-lite-v1:0", { prompt_tokens: 215, completion_tokens: 50, total_tokens: 1366 }),
    ],
  ],
  [
    "opentelemetry-openai",
    [...times(3, GPT, WITHOUT_CACHE), ...times(1, "text-embedding-3-small", EMBEDDING)],
  ],
  [
    "langfuse",
    [
      ...times(2, GPT, OPENAI),
      ...times(1, "gpt-4o", OPENAI),
      ...times(1, "claude-sonnet-4-5", without(ANTHROPIC, "cache_creation_input_tokens")),
    ],
  ],
  ["langsmith", times(3, GPT, CACHE_READ_ONLY)],
  ["mastra", times(2, GPT, OPENAI)],
  ["voltagent", times(2, "gpt-4o", CACHE_READ_ONLY)],
  ["strands", times(3, "gpt-4o", CACHE_READ_ONLY)],
  ["google-adk", times(1, "gemini-2.5-flash", { prompt_tokens: 420, completion_tokens: 32 })],
])("the recorded traces of %s use and cost what the provider answered", async (name, answers) => {
  const request = recorded(name);
  const sent = await test.post("/otel/v1/traces", request);
  expect([sent.status, sent.text]).toEqual([200, "{}"]);

  const spans = spansOf(request);
  const startedAt = new Date(Number(BigInt(spans[0]!.startTimeUnixNano) / 1_000_000n)).toISOString();
  const told = await rootTotals({ trace_ids: [...new Set(spans.map((span) => span.traceId))] });
  const served = await asSentByHand(name, answers, startedAt);
  expect(told).toEqual(served);
  expect(Object.values(told).every((entry) => entry["prompt_tokens_total_cost"] !== undefined)).toBe(true);
});

/** What all roots of some traces used and cost together. */
async function rootTotals(filter: object): Promise<Usage> {
  const answer = await test.post("/trace/usage", {
    project_id,
    filter: { ...filter, trace_roots_only: true },
    include_costs: true,
  });
  const total: Usage = {};
  for (const perLlm of Object.values(answer.json().call_usage as Record<string, Usage>)) {
    for (const [llm, entry] of Object.entries(perLlm)) add((total[llm] ??= {}), entry);
  }
  return total;
}

function add(total: Usage[string], entry: Usage[string]): void {
  for (const [name, value] of Object.entries(entry)) {
    const sum = (total[name] ?? 0) + (value ?? 0);
    total[name] = value === null ? null : Number(sum.toFixed(12));
  }
}

/** The same answers as calls without any tracing: what they use and cost by the provider's own words. */
async function asSentByHand(
  name: string,
  answers: readonly (readonly [string, object])[],
  startedAt: string,
): Promise<Usage> {
  const batch = answers.map(([model, usage], number) => ({
    id: `${name}-${number}`,
    trace_id: `by-hand-${name}`,
    op_name: "ask",
    started_at: startedAt,
    ended_at: startedAt,
    inputs: {},
    attributes: {},
    output: null,
    summary: { usage: { [model]: { requests: 1, ...usage } } },
  }));
  const stored = await test.post("/v2/acme/recorded/calls/complete", { batch });
  expect(stored.json()).toEqual({ rejected: [] });
  const total = await rootTotals({ trace_ids: [`by-hand-${name}`] });
  return Object.fromEntries(
    Object.entries(total).map(([llm, entry]) => [llm, llm.startsWith("claude") ? withCache(entry) : entry]),
  );
}

/** Anthropic counts cached tokens beside the prompt, the conventions of OpenTelemetry within it. */
function withCache(entry: Usage[string]): Usage[string] {
  const cached = entry["cache_read_input_tokens"]! + entry["cache_creation_input_tokens"]!;
  return {
    ...entry,
    prompt_tokens: entry["prompt_tokens"]! + cached,
    total_tokens: entry["total_tokens"]! + cached,
  };
}
