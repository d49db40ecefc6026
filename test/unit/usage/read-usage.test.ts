import { describe, expect, it } from "vitest";
import { readUsage } from "../../../src/usage/read-usage.ts";
import { toCount } from "../../../src/usage/to-count.ts";

const of = (entry: unknown) => readUsage({ usage: { m: entry } })[0];

describe("readUsage", () => {
  it.each([
    [
      "input_tokens alone",
      { input_tokens: 5, output_tokens: 2 },
      { promptTokens: 5, completionTokens: 2, totalTokens: 7 },
    ],
    [
      "both names: the larger count, never the sum",
      { prompt_tokens: 5, input_tokens: 7, completion_tokens: 4, output_tokens: 3 },
      { promptTokens: 7, completionTokens: 4 },
    ],
    ["a total of its own", { prompt_tokens: 5, total_tokens: 100 }, { totalTokens: 100 }],
    [
      "a total of 0 with tokens",
      { prompt_tokens: 5, completion_tokens: 1, total_tokens: 0 },
      { totalTokens: 6 },
    ],
    [
      "the flat field first",
      { prompt_tokens: 9, cache_read_input_tokens: 2, prompt_tokens_details: { cached_tokens: 4 } },
      { cacheReadTokens: 2 },
    ],
    [
      "numbers in text",
      { prompt_tokens: "12", completion_tokens: " 3.0 " },
      { promptTokens: 12, completionTokens: 3 },
    ],
    [
      "nulls",
      { prompt_tokens: null, input_tokens: 4, total_tokens: null, requests: 1 },
      { promptTokens: 4, totalTokens: 4, requests: 1 },
    ],
    [
      "the Responses API with additional flat cache fields, as weave for Python writes it",
      { input_tokens: 90, cache_read_input_tokens: 40, input_tokens_details: { cached_tokens: 40 } },
      { promptTokens: 90, cacheReadTokens: 40, cacheOutsidePrompt: false },
    ],
    [
      "audio and images of OpenAI",
      {
        prompt_tokens: 100,
        completion_tokens: 60,
        prompt_tokens_details: { audio_tokens: 30, image_tokens: 20, cached_tokens: 0 },
        completion_tokens_details: { audio_tokens: 40, reasoning_tokens: 5 },
      },
      { units: { input_audio_tokens: 30, input_image_tokens: 20, output_audio_tokens: 40 } },
    ],
    [
      "only DeepSeek's hits and misses",
      { prompt_cache_hit_tokens: 60, prompt_cache_miss_tokens: 40, completion_tokens: 1 },
      { promptTokens: 100, cacheReadTokens: 60, totalTokens: 101 },
    ],
    [
      "Gemini's names in Python",
      {
        prompt_token_count: 10,
        candidates_token_count: 2,
        thoughts_token_count: 3,
        candidates_tokens_details: [{ modality: "IMAGE", token_count: 2 }],
      },
      { promptTokens: 10, completionTokens: 5, units: { output_image_tokens: 2 } },
    ],
    [
      "Gemini by weave for Python, which excludes reasoning from the output",
      { prompt_tokens: 10, completion_tokens: 2, thoughts_tokens: 30, total_tokens: 42, requests: 1 },
      { promptTokens: 10, completionTokens: 32, totalTokens: 42 },
    ],
    [
      "Bedrock's Converse",
      {
        inputTokens: 5,
        outputTokens: 2,
        totalTokens: 57,
        cacheReadInputTokens: 30,
        cacheWriteInputTokens: 20,
        cacheDetails: [{ ttl: "1h", inputTokens: 20 }],
      },
      {
        promptTokens: 5,
        cacheReadTokens: 30,
        cacheCreationTokens: 20,
        cacheOutsidePrompt: true,
        units: { cache_write_1h_tokens: 20 },
      },
    ],
    [
      "DashScope's writes, which are part of the prompt",
      {
        prompt_tokens: 1950,
        completion_tokens: 8,
        prompt_tokens_details: {
          cached_tokens: 0,
          cache_creation_input_tokens: 1889,
          cache_type: "ephemeral",
        },
      },
      { promptTokens: 1950, cacheReadTokens: 0, cacheCreationTokens: 1889, cacheOutsidePrompt: false },
    ],
    [
      "DashScope's writes by age, with and without their sum",
      {
        input_tokens: 900,
        prompt_tokens_details: {
          cached_tokens: 200,
          cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 300 },
        },
      },
      {
        promptTokens: 900,
        cacheReadTokens: 200,
        cacheCreationTokens: 400,
        cacheOutsidePrompt: false,
        units: { cache_write_1h_tokens: 300 },
      },
    ],
    [
      "LiteLLM's writes",
      { prompt_tokens: 90, prompt_tokens_details: { cached_tokens: 30, cache_creation_tokens: 40 } },
      { promptTokens: 90, cacheReadTokens: 30, cacheCreationTokens: 40 },
    ],
    ["Mistral's flat count", { prompt_tokens: 90, num_cached_tokens: 64 }, { cacheReadTokens: 64 }],
    [
      "Mistral's details in the singular, beside the flat count",
      { prompt_tokens: 90, num_cached_tokens: 64, prompt_token_details: { cached_tokens: 64 } },
      { promptTokens: 90, cacheReadTokens: 64 },
    ],
    [
      "Mistral's details in the singular alone",
      { prompt_tokens: 90, prompt_token_details: { cached_tokens: 48, audio_tokens: 7 } },
      { cacheReadTokens: 48, units: { input_audio_tokens: 7 } },
    ],
    [
      "LangChain's parts named by the tier",
      {
        input_tokens: 900,
        output_tokens: 1,
        input_token_details: { priority: 200, priority_cache_read: 300, priority_cache_creation: 400 },
      },
      {
        promptTokens: 900,
        cacheReadTokens: 300,
        cacheCreationTokens: 400,
        service: { provider: "", tier: "priority" },
      },
    ],
    [
      "LangChain's writes of another tier, without fresh input, beside a sum of 0",
      { input_tokens: 500, input_token_details: { cache_creation: 0, flex_cache_creation: 500 } },
      { cacheReadTokens: 0, cacheCreationTokens: 500, service: { provider: "", tier: "flex" } },
    ],
    [
      "our own names, and the provider",
      { prompt_tokens: 5, web_searches: 4, service_tier: "Priority", provider: "OpenAI" },
      { units: { web_searches: 4 }, service: { provider: "openai", tier: "priority" } },
    ],
    [
      "the tier as Google spells it",
      { promptTokenCount: 5, serviceTier: "SERVICE_TIER_STANDARD" },
      { service: undefined },
    ],
    [
      "no tier of Vertex",
      { promptTokenCount: 5, trafficType: "TRAFFIC_TYPE_UNSPECIFIED" },
      { service: undefined },
    ],
    [
      "another tier as Google spells it",
      { promptTokenCount: 5, serviceTier: "SERVICE_TIER_FLEX" },
      { service: { provider: "", tier: "flex" } },
    ],
  ] as const)("reads %s", (_, entry, expected) => {
    expect(of(entry)).toMatchObject(expected);
  });

  it("drops empty usage, and values that are no usage", () => {
    expect(readUsage({ usage: { a: {}, b: { prompt_tokens: 0 }, c: 5, d: null, e: [1], f: "x" } })).toEqual(
      [],
    );
    for (const summary of [undefined, null, 5, [], {}, { usage: null }, { usage: [] }])
      expect(readUsage(summary)).toEqual([]);
  });

  it("keeps LLM ids unchanged", () => {
    const ids = ["__proto__", "constructor", "a.b", "", 'x"y', "modèle"];
    const usage = JSON.parse(
      `{${ids.map((id) => `${JSON.stringify(id)}:{"requests":1}`).join(",")}}`,
    ) as object;
    expect(readUsage({ usage }).map((one) => one.llm)).toEqual(ids);
  });
});

describe("readUsage with an output", () => {
  const summary = (entry: object) => ({ usage: { m: entry } });
  const raw = {
    input_tokens: 215,
    cache_read_input_tokens: 801,
    cache_creation_input_tokens: 300,
    output_tokens: 50,
  };

  it("detects that weave for Python has added Anthropic's cached tokens to the input", () => {
    const added = { ...raw, input_tokens: 215 + 801 + 300 };
    expect(readUsage(summary(added), { type: "message", usage: raw })[0]).toMatchObject({
      promptTokens: 1316,
      cacheOutsidePrompt: false,
    });
    expect(readUsage(summary(raw), { type: "message", usage: raw })[0]).toMatchObject({
      promptTokens: 215,
      cacheOutsidePrompt: true,
    });
  });

  it("reads counts that the summary lacks, also from a stream's response", () => {
    const entry = { requests: 1, input_tokens: 10, output_tokens: 5 };
    const usage = { input_tokens: 10, output_tokens: 5, output_tokens_details: { audio_tokens: 3 } };
    const output = [
      { type: "web_search_call", status: "completed", action: { type: "search", query: "x" } },
      { type: "web_search_call", status: "completed", action: { type: "open_page", url: "x" } },
      { type: "file_search_call" },
      { type: "message" },
    ];
    for (const response of [
      { usage, output, service_tier: "flex" },
      { response: { usage, output, service_tier: "flex" } },
    ]) {
      expect(readUsage(summary(entry), response)[0]).toMatchObject({
        units: { web_searches: 1, storage_searches: 1, output_audio_tokens: 3 },
        service: { provider: "", tier: "flex" },
      });
    }
  });

  it("reads the input of embeddings and reranking, of which only the total is told", () => {
    const usage = { total_tokens: 26 };
    for (const output of [
      { object: "list", data: [{ object: "embedding", embedding: [1] }], usage },
      { results: [{ index: 0, relevance_score: 0.5 }], usage },
    ])
      expect(readUsage(summary(usage), output)[0]).toMatchObject({ promptTokens: 26, totalTokens: 26 });
    for (const output of [null, { data: [], usage: { total_tokens: 25 } }, { choices: [], usage }])
      expect(readUsage(summary(usage), output)[0]).toMatchObject({ promptTokens: 0, totalTokens: 26 });
  });

  it("ignores a response with other counts, or if the summary has several LLMs", () => {
    const response = { usage: { prompt_tokens: 7, completion_tokens: 1 }, service_tier: "flex" };
    expect(
      readUsage(summary({ prompt_tokens: 14, completion_tokens: 2 }), response)[0]?.service,
    ).toBeUndefined();
    const two = { usage: { a: { prompt_tokens: 7, completion_tokens: 1 }, b: { prompt_tokens: 1 } } };
    expect(readUsage(two, response).map(({ service }) => service)).toEqual([undefined, undefined]);
  });

  it("ignores other outputs", () => {
    const entry = { prompt_tokens: 1 };
    for (const output of [null, 5, "text", [], {}, { usage: "x" }, { usage: [] }, { response: { usage: 1 } }])
      expect(readUsage(summary(entry), output)).toEqual(readUsage(summary(entry)));
  });
});

describe("toCount", () => {
  it.each([[-1], [Number.NaN], [Infinity], ["-5"], ["0x10"], ["abc"], [""], [true], [{}], [1e21], ["1e30"]])(
    "counts %j as 0",
    (value) => {
      expect(toCount(value)).toBe(0);
    },
  );
});
