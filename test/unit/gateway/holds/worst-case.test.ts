import { describe, expect, it } from "vitest";
import type { ProjectPrice } from "../../../../src/prices/project/project-prices.ts";
import { dollars, heldFor } from "./asked.ts";

const text = (length: number): string => "a".repeat(length);
const chat = (more: object = {}, content: unknown = "hi") => ({
  model: "gpt-4.1",
  max_completion_tokens: 100,
  messages: [{ role: "user", content }],
  ...more,
});
const message = (more: object = {}, content: unknown = "hi") => ({
  model: "claude-sonnet-4-5",
  max_tokens: 100,
  messages: [{ role: "user", content }],
  ...more,
});
const response = (more: object = {}) => ({ model: "gpt-4.1", max_output_tokens: 100, input: "hi", ...more });
/** The input that a hold has beyond that of the same request without a part. */
const inputOf = (path: string, body: object, output = 100): number =>
  heldFor(path, body as Record<string, unknown>).tokens - output;
const GPT_4_1 = { window: 1_000_000, input: 2e-6, output: 8e-6, priority: { input: 3.5e-6, output: 14e-6 } };

describe("the output that is held", () => {
  it.each([
    ["the larger of two maxima", { max_tokens: 700 }, 700],
    ["a maximum in text, as some servers read it", { max_completion_tokens: "900" }, 900],
    ["no negative maximum", { max_tokens: -5 }, 100],
    ["no fraction", { max_tokens: 1e-3 }, 100],
    ["each choice", { n: 4 }, 400],
    ["the larger of n and best_of", { n: 2, best_of: 3 }, 300],
  ])("has %s", (_, more, output) => {
    const plain = heldFor("/chat/completions", chat()).tokens - 100;
    const held = heldFor("/chat/completions", chat(more)).tokens;
    expect(held - plain).toBeGreaterThan(output - 25);
    expect(held - plain).toBeLessThan(output + 90);
  });

  it.each([{}, { max_completion_tokens: -1 }, { max_completion_tokens: 0 }, { max_completion_tokens: 1e30 }])(
    "is the context window without a maximum, once for each choice: %j",
    (maximum) => {
      const body = { ...chat({ n: 4, max_completion_tokens: undefined }), ...maximum };
      const { tokens } = heldFor("/chat/completions", body);
      expect(tokens).toBeGreaterThan(4 * GPT_4_1.window);
      expect(tokens).toBeLessThan(4 * GPT_4_1.window + 1_000);
    },
  );

  it("is 128,000 of an unknown model, whose dollars are unknown", () => {
    const held = heldFor("/chat/completions", { model: "nobody-knows", messages: [] });
    expect(held.usd).toBeNull();
    expect(held.tokens).toBeGreaterThan(128_000);
    expect(held.tokens).toBeLessThan(129_000);
  });

  it("counts each prompt of a batch", () => {
    const of = (prompt: unknown) =>
      heldFor("/completions", { model: "gpt-3.5-turbo-instruct", max_tokens: 1_000, prompt }).tokens;
    expect(of(["a", "b", "c"])).toBeGreaterThan(3_000);
    expect(of([[1, 2], [3]])).toBeGreaterThan(2_000);
    expect(of([1, 2, 3])).toBeLessThan(1_300);
  });

  it("reads Gemini's maximum and candidates", () => {
    const config = { maxOutputTokens: 1_000, candidateCount: 3 };
    const body = { contents: [{ parts: [{ text: "hi" }] }], generationConfig: config };
    const { tokens } = heldFor("generateContent", body, { model: "gemini-2.5-flash" });
    expect(tokens).toBeGreaterThan(3_000);
    expect(tokens).toBeLessThan(3_400);
  });

  it("ignores a maximum of another API", () => {
    expect(heldFor("/responses", { model: "gpt-4.1", input: "hi", max_tokens: 5 }).tokens).toBeGreaterThan(
      1e6,
    );
  });

  it("does not exist of embeddings", () => {
    const { tokens } = heldFor("/embeddings", { model: "text-embedding-3-small", input: ["some text"] });
    expect(tokens).toBeLessThan(300);
  });

  it("has rejected predictions", () => {
    const prediction = { type: "content", content: text(5_000) };
    const grown = heldFor("/chat/completions", chat({ prediction })).tokens;
    expect(grown - heldFor("/chat/completions", chat()).tokens).toBeGreaterThan(10_000);
  });
});

describe("the input that is held", () => {
  const plain = inputOf("/chat/completions", chat());

  it("has a token for each byte of text, keys of schemas and roles", () => {
    expect(inputOf("/chat/completions", chat({}, "€".repeat(1_000))) - plain).toBeGreaterThanOrEqual(2_998);
    const parameters = { type: "object", properties: { [text(500)]: { description: text(700) } } };
    const tools = [{ type: "function", function: { name: "a", parameters } }];
    const grown = inputOf("/chat/completions", chat({ tools })) - plain;
    expect(grown).toBeGreaterThan(1_200 + 1_000);
    expect(grown).toBeLessThan(1_200 + 1_500);
  });

  it("has the digits of numbers in text", () => {
    const numbers = Array.from({ length: 1_000 }, () => 1.234_567_890_123_45e-300);
    const calls = [{ type: "function_call", arguments: { numbers } }];
    const grown = inputOf("/responses", response({ input: calls }));
    expect(grown).toBeGreaterThan(JSON.stringify(calls).length);
  });

  it("counts token ids one by one", () => {
    const body = { model: "text-embedding-3-small", input: Array.from({ length: 1_000 }, () => 100_000) };
    expect(inputOf("/embeddings", body, 0)).toBeLessThan(1_300);
  });

  const base64 = text(400_000);
  const image = `data:image/png;base64,${base64}`;
  it.each<[string, string, unknown]>([
    ["/chat/completions", "image_url", { type: "image_url", image_url: { url: image } }],
    ["/chat/completions", "image by URL", { type: "image_url", image_url: { url: "https://x.test/a.png" } }],
    ["/responses", "input_image", { type: "input_image", image_url: image }],
    [
      "/messages",
      "image",
      { type: "image", source: { type: "base64", media_type: "image/png", data: base64 } },
    ],
    ["/messages", "image by URL", { type: "image", source: { type: "url", url: "https://x.test/a.png" } }],
    ["generateContent", "inlineData", { inlineData: { mimeType: "image/png", data: base64 } }],
  ])("at %s has an %s as an image, not as text", (path, _, part) => {
    const bodies: Readonly<Record<string, object>> = {
      "/chat/completions": chat({}, [part]),
      "/responses": response({ input: [{ role: "user", content: [part] }] }),
      "/messages": message({}, [{ type: "tool_result", content: [part] }]),
      generateContent: {
        model: "gemini-2.5-flash",
        contents: [{ parts: [part] }],
        generationConfig: { maxOutputTokens: 100 },
      },
    };
    const input = inputOf(path, bodies[path]!);
    const tokens = path === "/messages" ? 8_464 : 48_169;
    expect(input).toBeGreaterThan(tokens);
    expect(input).toBeLessThan(tokens + 500);
  });

  it("has a data URL in text as text", () => {
    expect(inputOf("/chat/completions", chat({}, image))).toBeGreaterThan(400_000);
    const use = { type: "tool_use", input: { image_url: image } };
    expect(inputOf("/messages", message({}, [use]))).toBeGreaterThan(400_000);
    const call = { functionCall: { args: { inlineData: { mimeType: "image/png", data: base64 } } } };
    const body = {
      model: "gemini-2.5-flash",
      contents: [{ parts: [call] }],
      generationConfig: { maxOutputTokens: 100 },
    };
    expect(inputOf("generateContent", body)).toBeGreaterThan(400_000);
  });

  it("bounds audio by its bytes", () => {
    const audio = { type: "input_audio", input_audio: { data: base64, format: "mp3" } };
    const input = inputOf("/chat/completions", chat({}, [audio]));
    expect(input).toBeGreaterThan((300_000 / 750) * 32);
    expect(input).toBeLessThan((300_000 / 750) * 32 + 600);
  });

  it.each<[string, object]>([
    ["/responses", { previous_response_id: "resp_1" }],
    ["/responses", { conversation: "conv_1" }],
    ["/responses", { prompt: { id: "pmpt_1" } }],
    ["/responses", { input: [{ type: "item_reference", id: "msg_1" }] }],
    ["/responses", { input: [{ role: "user", content: [{ type: "input_file", file_id: "file-1" }] }] }],
    [
      "/responses",
      { input: [{ role: "user", content: [{ type: "input_file", file_url: "https://x.test" }] }] },
    ],
    ["/responses", { tools: [{ type: "code_interpreter", container: { type: "auto" } }] }],
    ["/responses", { tools: [{ type: "computer_use_preview" }] }],
    ["/responses", { tools: [{ type: "mcp", server_url: "https://x.test" }] }],
    [
      "/chat/completions",
      {
        messages: [
          {
            role: "user",
            content: [{ type: "file", file: { file_data: "data:application/pdf;base64,aaaa" } }],
          },
        ],
      },
    ],
    ["/chat/completions", { messages: [{ role: "assistant", audio: { id: "audio_1" } }] }],
  ])("at %s is the context window with %j", (path, more) => {
    const body = path === "/responses" ? response(more) : chat(more);
    expect(inputOf(path, body)).toBe(GPT_4_1.window);
  });

  it("is never below what is counted, nor below the longest prompt with a price", () => {
    expect(
      inputOf("/responses", response({ previous_response_id: "a", input: text(1_100_000) })),
    ).toBeGreaterThan(1.1e6);
    const document = {
      type: "document",
      source: { type: "base64", media_type: "application/pdf", data: base64 },
    };
    expect(inputOf("/messages", message({}, [document]))).toBe(1_000_000);
    expect(inputOf("/messages", message({ model: "claude-opus-4-5" }, [document]))).toBe(200_000);
    const cached = { cachedContent: "cachedContents/1", generationConfig: { maxOutputTokens: 100 } };
    expect(inputOf("generateContent", { model: "gemini-2.5-flash", ...cached })).toBe(1_048_576);
  });

  it("has a constant for the tools of the client, the window for others", () => {
    const client = [
      { name: "a", input_schema: {} },
      { type: "bash_20250124", name: "bash" },
    ];
    expect(inputOf("/messages", message({ tools: client, mcp_servers: [] }))).toBeLessThan(2_500);
    const server = [{ type: "web_search_20250305", name: "web_search" }];
    expect(inputOf("/messages", message({ model: "claude-opus-4-5", tools: server }))).toBe(200_000);
    const own = { model: "gemini-2.5-flash", generationConfig: { maxOutputTokens: 100 } };
    const declared = [{ functionDeclarations: [{ name: "a" }] }];
    expect(inputOf("generateContent", { ...own, tools: declared })).toBeLessThan(1_500);
    expect(inputOf("generateContent", { ...own, tools: [{ googleSearch: {} }] })).toBe(1_048_576);
  });

  it("counts a file's transcription by its length, and a reranked query once for each document", () => {
    const model = "gpt-4o-transcribe";
    const { tokens, usd } = heldFor("/audio/transcriptions", { model }, { formBytes: 750_000 });
    expect(tokens).toBeGreaterThan(2 * 32_000);
    expect(tokens).toBeLessThan(2 * 32_000 + 500);
    expect(usd).not.toBeNull();
    const rerank = { model: "rerank-2.5", query: text(1_000), documents: [text(10), text(10)] };
    expect(heldFor("/rerank", rerank, { provider: "voyageai" }).tokens).toBeGreaterThan(2_020);
  });
});

describe("the price of a hold", () => {
  const priced = (more: Partial<ProjectPrice>): ProjectPrice => ({
    id: "a",
    llm_id: "ours",
    provider_id: "default",
    effectiveAtUs: 0,
    createdAtMs: 0,
    prompt_token_cost: 0,
    completion_token_cost: 0,
    cache_read_input_token_cost: null,
    cache_creation_input_token_cost: null,
    service_tier: "",
    unit_costs: {},
    ...more,
  });

  it("is that of the long context once the input can reach it, for all tokens", () => {
    const of = (length: number): number => {
      const held = heldFor("/messages", message({ max_tokens: 1_000 }, text(length)));
      return dollars(held)! - (held.tokens - 1_000) * 1e-6 * (length > 190_000 ? 12 : 6);
    };
    expect(of(1_000)).toBeCloseTo(1_000 * 15e-6, 9);
    expect(of(200_001)).toBeCloseTo(1_000 * 22.5e-6, 9);
    const gpt = (length: number): number =>
      dollars(heldFor("/chat/completions", chat({ model: "gpt-5.6-sol" }, text(length))))! / length;
    expect(gpt(273_000) / gpt(200_000)).toBeGreaterThan(1.5);
  });

  it("covers cache writes of an hour", () => {
    const held = heldFor("/messages", message({ model: "claude-opus-4-5" }, text(50_000)));
    expect(dollars(held)).toBeCloseTo((held.tokens - 100) * 10e-6 + 100 * 25e-6, 9);
  });

  it.each<[string, object, { readonly input: number; readonly output: number }]>([
    ["the dearest known tier without a name", {}, GPT_4_1.priority],
    ["the dearest known tier for auto", { service_tier: "auto" }, GPT_4_1.priority],
    ["the standard tier by its name", { service_tier: "default" }, GPT_4_1],
    ["the tier that is named", { service_tier: "priority" }, GPT_4_1.priority],
    ["the standard tier for a cheaper one", { service_tier: "flex" }, GPT_4_1],
  ])("is that of %s", (_, more, price) => {
    const held = heldFor("/chat/completions", chat(more));
    expect(dollars(held)).toBeCloseTo((held.tokens - 100) * price.input + 100 * price.output, 9);
  });

  it("is unknown at an unknown tier or without a price", () => {
    expect(heldFor("/chat/completions", chat({ service_tier: "scale" })).usd).toBeNull();
    expect(heldFor("/chat/completions", chat({ model: "ours" })).usd).toBeNull();
    expect(heldFor("/chat/completions", chat({ models: ["ours"] })).usd).toBeNull();
    expect(heldFor("/audio/speech", { model: "tts-1", input: "hi" }).usd).toBeNull();
  });

  it("is that of Anthropic's fast mode only where it is asked for, and of its region unless another is", () => {
    const of = (more: object): number =>
      Math.round(
        dollars(heldFor("/messages", message({ model: "claude-opus-4-6", ...more }, text(100_000))))! * 10,
      );
    expect(of({ inference_geo: "global" })).toBe(10);
    expect(of({ service_tier: "standard_only" })).toBe(11);
    expect(of({ speed: "fast", inference_geo: "global" })).toBe(60);
    expect(of({ speed: "fast" })).toBe(66);
  });

  it("is 0 of a free model, and that of its paid fallback", () => {
    const prices = [priced({})];
    expect(heldFor("/chat/completions", chat({ model: "ours" }), { prices }).usd).toBe(0n);
    const fallback = chat({ model: "ours", models: ["ours", "gpt-4.1"] });
    expect(dollars(heldFor("/chat/completions", fallback, { prices }))).toBeGreaterThan(1e-3);
  });

  it("has the project's tiers, fees and units", () => {
    const prices = [
      priced({ prompt_token_cost: 1e-6, completion_token_cost: 1e-6, unit_costs: { requests: 0.5 } }),
      priced({ prompt_token_cost: 3e-6, service_tier: "turbo", unit_costs: { output_audio_tokens: 5e-3 } }),
    ];
    const held = heldFor("/chat/completions", chat({ model: "ours" }), { prices });
    expect(dollars(held)).toBeCloseTo(
      Math.max(0.5 + held.tokens * 1e-6, (held.tokens - 100) * 3e-6 + 100 * 5e-3),
      9,
    );
  });

  it("has an input of audio only with audio", () => {
    const model = "gpt-audio";
    const silent = heldFor("/chat/completions", chat({ model }, text(8_000)));
    const audio = { type: "input_audio", input_audio: { data: text(100_000), format: "wav" } };
    const spoken = heldFor("/chat/completions", chat({ model }, [audio]));
    const output = 100 * 64e-6;
    expect((dollars(silent)! - output) / (silent.tokens - 100)).toBeCloseTo(2.5e-6, 9);
    expect((dollars(spoken)! - output) / (spoken.tokens - 100)).toBeCloseTo(32e-6, 9);
  });

  it.each<[string, string, object, number]>([
    [
      "/messages",
      "max_uses",
      { tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 3 }] },
      3,
    ],
    ["/messages", "no limit", { tools: [{ type: "web_search_20250305", name: "web_search" }] }, 32],
    ["/responses", "max_tool_calls", { tools: [{ type: "web_search" }], max_tool_calls: 5 }, 5],
    ["/responses", "no limit", { tools: [{ type: "web_search" }] }, 32],
  ])("at %s has the fees of searches with %s", (path, _, more, searches) => {
    const [body, other] =
      path === "/messages"
        ? [message(more), message({ mcp_servers: [{ url: "https://x.test" }] })]
        : [response(more), response({ tools: [{ type: "mcp" }] })];
    const fees = dollars(heldFor(path, body))! - dollars(heldFor(path, other))!;
    expect(fees).toBeCloseTo(searches * 0.01, 6);
  });

  it("is unknown if searches have no price", () => {
    const body = { model: "gemini-2.5-flash", tools: [{ googleSearch: {} }] };
    expect(heldFor("generateContent", body).usd).toBeNull();
  });

  it("has the searches that rerank documents, of which long ones count several times", () => {
    const prices = [priced({ unit_costs: { rerank_searches: 2 } })];
    const of = (documents: readonly string[]) =>
      dollars(heldFor("/rerank", { model: "ours", query: "q", documents }, { prices }));
    expect(of(["a", "b"])).toBe(2);
    expect(of(Array.from({ length: 101 }, () => "a"))).toBe(4);
    expect(of([text(60_000)])).toBe(4);
  });

  it("has the seconds of an audio file", () => {
    const held = heldFor("/audio/transcriptions", { model: "whisper-1" }, { formBytes: 3_600 * 750 });
    expect(dollars(held)).toBeCloseTo(0.36, 6);
  });

  it("adds the models that take part: fallbacks, advisors, images, a summary of the context", () => {
    const plain = dollars(heldFor("/messages", message()))!;
    const more = (added: object): number => dollars(heldFor("/messages", message(added)))! - plain;
    expect(more({ fallbacks: [{ model: "claude-sonnet-4-5" }] })).toBeGreaterThan(plain);
    expect(more({ context_management: { edits: [{ type: "compact_20260112" }] } })).toBeGreaterThan(plain);
    const advisor = { type: "advisor_20260301", name: "advisor", model: "claude-opus-4-5" };
    expect(more({ tools: [advisor] })).toBeGreaterThan(200_000 * (10e-6 + 25e-6));
    const images = dollars(heldFor("/responses", response({ tools: [{ type: "image_generation" }] })));
    expect(images).toBeGreaterThan(128_000 * 40e-6);
    const both = { tools: [{ type: "image_generation" }, { type: "web_search" }] };
    expect(dollars(heldFor("/responses", response(both)))).toBeCloseTo(images! + 32 * 0.01, 3);
  });

  it("adds to a research model's maximum what it reads and thinks of its own", () => {
    const body = { ...chat({ model: "sonar-deep-research" }) };
    const held = heldFor("/chat/completions", body, { provider: "perplexity" });
    expect(held.tokens).toBeGreaterThanOrEqual(2 * 128_000);
    // reasoning at $3 and output at $8 per million, 32 searches at $5 per thousand
    expect(dollars(held)).toBeGreaterThan(128_000 * 8e-6 + 32 * 0.005);
  });

  it("refuses a body with more models than any provider takes", () => {
    const models = Array.from({ length: 20 }, (_, index) => `m${index}`);
    expect(() => heldFor("/chat/completions", chat({ models }))).toThrow(/16 models/);
  });
});
