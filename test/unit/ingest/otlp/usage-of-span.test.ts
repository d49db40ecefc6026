import { describe, expect, it } from "vitest";
import { MODEL, NO_REQUESTS, TOKENS } from "../../../../src/ingest/otlp/attribute-rows.ts";
import type { SpanOfProducer } from "../../../../src/ingest/otlp/producers.ts";
import { usageOfSpan } from "../../../../src/ingest/otlp/usage-of-span.ts";

const usage = (record: Record<string, unknown>, sent: Partial<SpanOfProducer> = {}) =>
  reported(record, sent)?.usage;
const reported = (record: Record<string, unknown>, sent: Partial<SpanOfProducer> = {}) =>
  usageOfSpan({
    name: "chat",
    scopeName: "app",
    scopeVersion: "",
    attributes: new Map(Object.entries(record)),
    ...sent,
  });
/** Counts under the unknown model. */
const countsOf = (record: Record<string, unknown>, sent: Partial<SpanOfProducer> = {}) =>
  usage(record, sent)?.["usage"];

const TOKEN_ROWS = Object.entries(TOKENS).flatMap(([count, row]) => row.map((key) => [key, count] as const));

describe("usageOfSpan", () => {
  it.each(TOKEN_ROWS)("reads %s as %s, as number or text", (key, count) => {
    for (const seven of [7, "7", 7.0, " 7 "]) {
      expect(usage({ [key]: seven })).toEqual({ usage: { requests: 1, [count]: 7 } });
    }
    for (const nothing of [-7, "seven", "", Number.NaN, Number.POSITIVE_INFINITY, true, null, [7], {}]) {
      expect(usage({ [key]: nothing })).toBeUndefined();
    }
  });

  it.each(Object.entries(TOKENS))("uses the first present one of %s, and never adds two", (count, row) => {
    const all = Object.fromEntries(row.map((key, index) => [key, index + 1]));
    expect(usage(all)?.["usage"]?.[count]).toBe(1);
    expect(usage({ ...all, [row[0]]: -1 })?.["usage"]?.[count]).toBe(row.length > 1 ? 2 : undefined);
    expect(usage({ ...all, [row[0]]: 0 })?.["usage"]?.[count]).toBe(0);
  });

  it.each(MODEL)("counts under the model of %s", (key) => {
    expect(usage({ [key]: "gpt-4o", "gen_ai.usage.input_tokens": 1 })).toEqual({
      "gpt-4o": { requests: 1, prompt_tokens: 1 },
    });
  });

  it("prefers the response model", () => {
    const both = { "gen_ai.request.model": "asked", "gen_ai.response.model": "answered" };
    expect(Object.keys(usage({ ...both, "gen_ai.usage.input_tokens": 1 })!)).toEqual(["answered"]);
  });

  it("returns undefined without tokens", () => {
    expect(usage({ "gen_ai.request.model": "gpt-4o" })).toBeUndefined();
  });
});

describe("the requests of a span that reports tokens", () => {
  const tokens = { "gen_ai.usage.input_tokens": 4 };
  const rows = NO_REQUESTS.flatMap(({ attribute, values }) =>
    [...values].map((value) => [attribute, value] as const),
  );

  it.each(rows)("are omitted for %s = %s, which calls no model itself", (attribute, value) => {
    expect(countsOf({ ...tokens, [attribute]: value })).toEqual({ prompt_tokens: 4 });
  });

  it("are omitted for an outer span of the AI SDK, known by its name", () => {
    expect(countsOf(tokens, { name: "ai.streamText" })).toEqual({ prompt_tokens: 4 });
  });

  it.each([
    ["chat gpt-4o", { "gen_ai.operation.name": "chat" }],
    ["ai.generateText.doGenerate", { "ai.operationId": "ai.generateText.doGenerate" }],
    ["ai.streamText", { "ai.operationId": "ai.streamText.doStream" }],
    ["llm", { "openinference.span.kind": "LLM" }],
  ])("are one for %s with %o", (name, record) => {
    expect(countsOf({ ...tokens, ...record }, { name })).toEqual({ requests: 1, prompt_tokens: 4 });
  });
});

describe("counts in a document", () => {
  it.each([
    [
      "gen_ai.usage.input_token_details",
      { cache_read: 4, cache_creation: 3, audio: 1 },
      { cache_read_input_tokens: 4, cache_creation_input_tokens: 3, input_audio_tokens: 1 },
    ],
    ["gen_ai.usage.output_token_details", { reasoning: 5 }, { reasoning_tokens: 5 }],
    [
      "langwatch.metrics",
      { type: "json", value: { promptTokens: 10, completionTokens: 3, cost: 0.1 } },
      { prompt_tokens: 10, completion_tokens: 3 },
    ],
    [
      "ai.response.providerMetadata",
      {
        anthropic: { usage: { input_tokens: 2, cache_read_input_tokens: 8, cache_creation_input_tokens: 3 } },
      },
      { cache_read_input_tokens: 8, cache_creation_input_tokens: 3 },
    ],
    [
      "ai.response.providerMetadata",
      { bedrock: { usage: { cacheReadInputTokens: 8, cacheWriteInputTokens: 3 } } },
      { cache_read_input_tokens: 8, cache_creation_input_tokens: 3 },
    ],
    ["ai.response.providerMetadata", { openai: { cachedPromptTokens: 8 } }, { cache_read_input_tokens: 8 }],
    [
      "gen_ai.usage.prompt_tokens_details",
      { cached_tokens: 5, cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 4 } },
      { cache_read_input_tokens: 5, cache_creation_input_tokens: 6, cache_write_1h_tokens: 4 },
    ],
    [
      "gen_ai.usage.input_token_details",
      { flex: 1, flex_cache_read: 4, flex_cache_creation: 3 },
      { cache_read_input_tokens: 4, cache_creation_input_tokens: 3 },
    ],
  ])("%s %o is read, as text and as an object", (attribute, document, expected) => {
    expect(countsOf({ [attribute]: JSON.stringify(document) })).toEqual({ requests: 1, ...expected });
    expect(countsOf({ [attribute]: document })).toEqual({ requests: 1, ...expected });
  });

  it("are overridden by attributes; other text is ignored", () => {
    const attribute = "mlflow.chat.tokenUsage";
    const counts = { "gen_ai.usage.input_tokens": 4, "gen_ai.usage.output_tokens": 2 };
    const document = JSON.stringify({ input_tokens: 10, output_tokens: 3, total_tokens: 13 });
    expect(countsOf({ ...counts, [attribute]: document })).toEqual({
      requests: 1,
      prompt_tokens: 4,
      completion_tokens: 2,
      total_tokens: 13,
    });
    for (const broken of ["", "{", "[1]", "12", "null", null, 7, { input_tokens: "many" }]) {
      expect(countsOf({ [attribute]: broken })?.["prompt_tokens"] ?? 0).toBe(0);
    }
  });

  it("are reported under the model that the producer names, also as JSON", () => {
    const document = { input_tokens: 1 };
    expect(usage({ "mlflow.llm.model": '"gpt-4o"', "mlflow.chat.tokenUsage": document })).toEqual({
      "gpt-4o": { requests: 1, prompt_tokens: 1 },
    });
  });
});

describe("a count that only the total has", () => {
  const [prompt, completion, total] = [
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.total_tokens",
  ];
  const both = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 };

  it.each([
    [
      { "gen_ai.operation.name": "embeddings", [total]: 13 },
      { prompt_tokens: 13, total_tokens: 13 },
    ],
    [
      { "openinference.span.kind": "RERANKER", "llm.token_count.total": 13 },
      { prompt_tokens: 13, total_tokens: 13 },
    ],
    [
      { "llm.request.type": "embedding", [prompt]: 9, [total]: 13 },
      { prompt_tokens: 9, total_tokens: 13 },
    ],
    [{ [prompt]: 9, [total]: 13 }, both],
    [{ [completion]: 4, [total]: 13 }, both],
    [
      { [prompt]: 9, [completion]: 2, [total]: 13 },
      { ...both, completion_tokens: 2 },
    ],
    [{ [total]: 13 }, { total_tokens: 13 }],
  ])("is counted for %o", (attributes, expected) => {
    expect(countsOf(attributes)).toEqual({ requests: 1, ...expected });
    expect(reported(attributes)?.reading.basis).toBe("words");
  });
});

describe("the AI SDK's provider metadata", () => {
  const google = (usageMetadata: object) => ({ usageMetadata, safetyRatings: null });
  const thought = {
    promptTokenCount: 14,
    candidatesTokenCount: 3,
    thoughtsTokenCount: 200,
    totalTokenCount: 217,
  };
  const [four, six] = [
    { "ai.usage.promptTokens": 14, "ai.usage.completionTokens": 3 },
    { "ai.usage.inputTokens": 14, "ai.usage.outputTokens": 203, "ai.usage.totalTokens": 217 },
  ];

  it.each([
    ["thoughts of version 4", four, { google: google(thought) }, { completion_tokens: 203 }],
    [
      "thoughts of version 5, by Vertex",
      { "ai.usage.inputTokens": 14, "ai.usage.outputTokens": 3, "ai.usage.totalTokens": 17 },
      { vertex: google(thought) },
      { completion_tokens: 203, total_tokens: 217 },
    ],
    ["thoughts that version 6 has added", six, { google: google(thought) }, { completion_tokens: 203 }],
    [
      "thoughts within the output",
      { "ai.usage.promptTokens": 14, "ai.usage.completionTokens": 203 },
      { google: google({ ...thought, candidatesTokenCount: 203 }) },
      { completion_tokens: 203 },
    ],
    [
      "Google's caches and tools",
      { "ai.usage.promptTokens": 500, "ai.usage.completionTokens": 3 },
      {
        google: google({
          promptTokenCount: 500,
          toolUsePromptTokenCount: 40,
          cachedContentTokenCount: 300,
          candidatesTokenCount: 3,
          totalTokenCount: 543,
        }),
      },
      { prompt_tokens: 540, completion_tokens: 3, cache_read_input_tokens: 300 },
    ],
    [
      "DeepSeek's hits",
      { "ai.usage.promptTokens": 7500, "ai.usage.completionTokens": 3, "ai.usage.cachedInputTokens": 0 },
      { deepseek: { promptCacheHitTokens: 7000, promptCacheMissTokens: 500 } },
      { prompt_tokens: 7500, completion_tokens: 3, cache_read_input_tokens: 7000 },
    ],
    [
      "details in camel case",
      four,
      {
        openrouter: {
          usage: { promptTokens: 14, promptTokensDetails: { cachedTokens: 9 }, cost: 0.5 },
        },
      },
      { prompt_tokens: 14, completion_tokens: 3, cache_read_input_tokens: 9, cost: 0.5 },
    ],
    [
      "DashScope's writes",
      four,
      {
        alibaba: {
          usage: { prompt_tokens_details: { cached_tokens: 1, cache_creation_input_tokens: 11 } },
        },
      },
      { prompt_tokens: 14, cache_read_input_tokens: 1, cache_creation_input_tokens: 11 },
    ],
    ["other values", four, { google: null, openai: "x", xai: { usageMetadata: [1], usage: 3 } }, {}],
  ])("tells %s", (_, attributes, metadata, expected) => {
    const counts = countsOf({ ...attributes, "ai.response.providerMetadata": JSON.stringify(metadata) });
    expect(counts).toMatchObject({ prompt_tokens: 14, completion_tokens: 3, ...expected });
  });
});

describe("prompt tokens of a producer that excludes cached ones", () => {
  const counts = {
    "gen_ai.usage.input_tokens": 900,
    "gen_ai.usage.output_tokens": 50,
    "gen_ai.usage.total_tokens": 950,
    "gen_ai.usage.cache_read.input_tokens": 80,
    "gen_ai.usage.cache_write.input_tokens": 20,
  };

  it("include them if more cached than prompt tokens are reported", () => {
    expect(countsOf({ ...counts, "gen_ai.usage.input_tokens": 10 })).toMatchObject({
      prompt_tokens: 110,
      total_tokens: 160,
    });
  });
});

describe("Claude Code's bare names", () => {
  const bare = {
    model: "claude-opus-5",
    input_tokens: 2,
    output_tokens: 1200,
    cache_read_tokens: 84_562,
    cache_creation_tokens: 7096,
  };

  it("are read on its own spans", () => {
    expect(usage(bare, { name: "claude_code.llm_request" })).toEqual({
      "claude-opus-5": {
        requests: 1,
        prompt_tokens: 91_660,
        completion_tokens: 1200,
        total_tokens: 92_860,
        cache_read_input_tokens: 84_562,
        cache_creation_input_tokens: 7096,
      },
    });
  });

  it("are ignored on other spans", () => {
    expect(usage(bare)).toBeUndefined();
  });
});
