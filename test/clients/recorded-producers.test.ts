import { afterAll, beforeAll, expect, it } from "vitest";
import { recorded, spansOf } from "../helpers/recorded-trace.ts";
import { rootTotals, sendAsCalls, type Entries } from "../helpers/served-usage.ts";
import { startApp, type TestApp } from "../helpers/start-app.ts";

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

const project_id = "acme/recorded";
/** Usage of the mock provider, in the provider's format. */
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
const without = <Answer extends object>(response: Answer, ...names: string[]): object =>
  Object.fromEntries(Object.entries(response).filter(([name]) => !names.includes(name)));
const WITHOUT_CACHE = without(OPENAI, "prompt_tokens_details");
const CACHE_READ_ONLY = { ...OPENAI, prompt_tokens_details: { cached_tokens: 128 } };
const CACHE_WRITTEN_ONLY = { ...OPENAI, prompt_tokens_details: { cache_write_tokens: 64 } };

const times = (count: number, model: string, usage: object) =>
  Array.from({ length: count }, () => ({ [model]: usage }));

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
      // in one region Bedrock charges a tenth more than Anthropic does
      ...times(1, "claude-sonnet-4-5-20250929-v1:0", {
        input_tokens: 215,
        output_tokens: 50,
        provider: "aws.bedrock",
      }),
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
])("the recorded traces of %s have the usage and costs of the provider", async (name, responses) => {
  const request = recorded(name);
  const sent = await test.post("/otel/v1/traces", request);
  expect([sent.status, sent.text]).toEqual([200, "{}"]);

  const spans = spansOf(request);
  const startedAt = new Date(Number(BigInt(spans[0]!.startTimeUnixNano) / 1_000_000n)).toISOString();
  const traces = [...new Set(spans.map((span) => span.traceId))];
  const told = await rootTotals(test, project_id, { trace_ids: traces });
  const trace = `by-hand-${name}`;
  const served = await sendAsCalls(test, { project: project_id, trace, startedAt, answers: responses });
  for (const llm of Object.keys(served)) if (llm.startsWith("claude")) served[llm] = withCache(served[llm]!);
  expect(told).toEqual(served);
});

/** Anthropic counts cached tokens beside the prompt, the conventions of OpenTelemetry within it. */
function withCache(entry: Entries[string]): Entries[string] {
  const cached = entry["cache_read_input_tokens"]! + entry["cache_creation_input_tokens"]!;
  return {
    ...entry,
    prompt_tokens: entry["prompt_tokens"]! + cached,
    total_tokens: entry["total_tokens"]! + cached,
  };
}
