import type { ModelApiCase } from "./model-api-case.ts";

type Json = Readonly<Record<string, unknown>>;

const model = "gemini-2.5-flash";
const asked = {
  systemInstruction: { parts: [{ text: "Count." }] },
  contents: [{ role: "user", parts: [{ text: "What did the calls of today cost?" }] }],
};
const answered = (parts: readonly Json[], finishReason?: string, more: Json = {}): Json => ({
  content: { parts, role: "model" },
  ...(finishReason === undefined ? {} : { finishReason }),
  index: 0,
  ...more,
});
const response = (candidates: readonly Json[], usageMetadata?: Json, more: Json = {}): Json => ({
  candidates,
  ...(usageMetadata === undefined ? {} : { usageMetadata }),
  modelVersion: model,
  responseId: "q7A2aYvBLKbW1PIP5rXy",
  ...more,
});
const event = (data: Json): string => `data: ${JSON.stringify(data)}\r\n\r\n`;
const text = (words: string): Json => ({ text: words });
const ofText = (tokenCount: number): readonly Json[] => [{ modality: "TEXT", tokenCount }];

const path = `/v1beta/models/${model}:generateContent`;
const stream = `/v1beta/models/${model}:streamGenerateContent?alt=sse`;
const common = { number: 41, path, body: asked, usage: "exact", outcome: "finished" } as const;
const beside = {
  promptTokenCount: 14,
  candidatesTokenCount: 1,
  thoughtsTokenCount: 100,
  totalTokenCount: 115,
};

export const geminiCases: readonly ModelApiCase[] = [
  {
    ...common,
    name: "thoughts are beside the candidates",
    answer: response([answered([text("Yes")], "STOP")], beside),
    used: { [model]: { prompt_tokens: 14, completion_tokens: 101, total_tokens: 115, requests: 1 } },
  },
  {
    ...common,
    name: "thoughts are inside the candidates, if the total says so",
    answer: response([answered([text("Yes")], "STOP")], {
      promptTokenCount: 341,
      candidatesTokenCount: 3362,
      thoughtsTokenCount: 3347,
      totalTokenCount: 3703,
    }),
    used: { [model]: { prompt_tokens: 341, completion_tokens: 3362, total_tokens: 3703 } },
  },
  {
    ...common,
    name: "the prompt includes what was cached",
    path: `/v1/models/${model}:generateContent`,
    answer: response([answered([text("Yes")], "STOP")], {
      promptTokenCount: 1000,
      cachedContentTokenCount: 900,
      candidatesTokenCount: 10,
      totalTokenCount: 1010,
      cacheTokensDetails: ofText(900),
    }),
    used: { [model]: { prompt_tokens: 1000, cache_read_input_tokens: 900, completion_tokens: 10 } },
    lines: { uncached_prompt_tokens: 100, cache_read_input_tokens: 900 },
  },
  {
    ...common,
    name: "pages that were fetched are input beside the prompt, and modalities have their price",
    path: `/v1beta/models/${model}%3AgenerateContent`,
    answer: response([answered([text("Yes")], "STOP")], {
      promptTokenCount: 300,
      toolUsePromptTokenCount: 5000,
      candidatesTokenCount: 20,
      totalTokenCount: 5320,
      promptTokensDetails: [...ofText(100), { modality: "AUDIO", tokenCount: 200 }],
      toolUsePromptTokensDetails: ofText(5000),
    }),
    used: { [model]: { prompt_tokens: 5300, completion_tokens: 20, total_tokens: 5320 } },
    lines: { input_audio_tokens: 200 },
  },
  ...(["gemini-2.5-flash", "gemini-3-pro-preview"] as const).map((served): ModelApiCase => ({
    ...common,
    name: `searches are charged by prompt before Gemini 3, since then by query: ${served}`,
    answer: response(
      [answered([text("Yes")], "STOP", { groundingMetadata: { webSearchQueries: ["a", "b", "c"] } })],
      { promptTokenCount: 9, candidatesTokenCount: 5, totalTokenCount: 14 },
      { modelVersion: served },
    ),
    used: { [served]: { prompt_tokens: 9, completion_tokens: 5 } },
    lines: { web_searches: served === "gemini-2.5-flash" ? 1 : 3 },
  })),
  {
    ...common,
    name: "a blocked prompt is input",
    path: stream,
    answer: [
      event({
        promptFeedback: { blockReason: "SAFETY" },
        usageMetadata: { promptTokenCount: 33, totalTokenCount: 33 },
        modelVersion: model,
      }),
    ],
    used: { [model]: { prompt_tokens: 33, completion_tokens: 0, total_tokens: 33 } },
  },
  {
    ...common,
    name: "of counts that grow, the last one holds, until each candidate has ended",
    path: stream,
    answer: [
      event(
        response([answered([{ text: "Hm.", thought: true }])], {
          promptTokenCount: 14,
          totalTokenCount: 114,
          thoughtsTokenCount: 100,
        }),
      ),
      event(
        response([answered([text("Ye")], "STOP"), answered([text("N")], undefined, { index: 1 })], {
          ...beside,
          candidatesTokenCount: 2,
          totalTokenCount: 116,
        }),
      ),
      event(
        response([answered([text("o")], "MAX_TOKENS", { index: 1 })], {
          ...beside,
          candidatesTokenCount: 4,
          totalTokenCount: 118,
        }),
      ),
    ],
    used: { [model]: { prompt_tokens: 14, completion_tokens: 104, total_tokens: 118 } },
  },
  {
    ...common,
    name: "a count behind the end of the content",
    path: stream,
    answer: [
      event(response([answered([text("Yes")], "STOP")])),
      event({ usageMetadata: beside, modelVersion: model }),
    ],
    used: { [model]: { prompt_tokens: 14, completion_tokens: 101 } },
  },
  {
    ...common,
    name: "of an image that is too large to parse, the counts behind it hold",
    path: stream,
    answer: [
      event(
        response(
          [answered([{ inlineData: { mimeType: "image/png", data: "x".repeat(5_000_000) } }], "STOP")],
          {
            promptTokenCount: 9,
            candidatesTokenCount: 1290,
            totalTokenCount: 1299,
            candidatesTokensDetails: [{ modality: "IMAGE", tokenCount: 1290 }],
          },
        ),
      ),
    ],
    used: { [model]: { prompt_tokens: 9, completion_tokens: 1290 } },
    lines: { output_image_tokens: 1290 },
  },
  {
    ...common,
    name: "without a count, it is estimated from text and arguments",
    path: "/v1beta/tunedModels/mine:streamGenerateContent?alt=sse",
    answer: [
      event({ candidates: [answered([text("x".repeat(16))])] }),
      event({ candidates: [answered([{ functionCall: { name: "cost", args: { of: "calls" } } }], "STOP")] }),
    ],
    usage: "estimated",
    used: { mine: { prompt_tokens: 10, completion_tokens: 7 } },
  },
  {
    ...common,
    name: "of a stream cut before each candidate has ended, what was counted so far is partial",
    path: stream,
    answer: [
      event(
        response([answered([text("Ye")], "STOP"), answered([text("N")], undefined, { index: 1 })], {
          promptTokenCount: 14,
          candidatesTokenCount: 1,
          totalTokenCount: 15,
        }),
      ),
      event(response([answered([text("o, it cost")], undefined, { index: 1 })])),
    ],
    usage: "partial",
    outcome: "upstream_cut",
    used: { [model]: { prompt_tokens: 14, completion_tokens: 4 } },
  },
  {
    ...common,
    name: "a stream may end with an error",
    path: stream,
    answer: [
      event(
        response([answered([text("Ye")])], {
          promptTokenCount: 14,
          candidatesTokenCount: 1,
          totalTokenCount: 15,
        }),
      ),
      event({ error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } }),
    ],
    outcome: "error",
    used: { [model]: { prompt_tokens: 14, completion_tokens: 1 } },
    exception: "overloaded",
  },
  {
    ...common,
    name: "an error passes as it is",
    status: 429,
    headers: { "retry-after": "30", "content-type": "application/json; charset=UTF-8" },
    answer:
      '{\n  "error": {"code": 429, "message": "Quota.", "status": "RESOURCE_EXHAUSTED", "details": []}\n}',
    usage: "none",
    outcome: "error",
    used: {},
    exception: "Quota.",
  },
  {
    ...common,
    name: "embeddings with a count",
    path: "/v1beta/models/gemini-embedding-2:embedContent",
    body: { content: { parts: [{ text: "Hm" }] } },
    answer: {
      embedding: { values: [0.25, 0.5] },
      usageMetadata: {
        promptTokenCount: 260,
        promptTokenDetails: [...ofText(2), { modality: "IMAGE", tokenCount: 258 }],
      },
    },
    used: { "gemini-embedding-2": { prompt_tokens: 260, completion_tokens: 0, requests: 1 } },
    lines: { input_image_tokens: 258 },
  },
  {
    ...common,
    name: "embeddings without a count",
    path: "/v1beta/models/gemini-embedding-001:batchEmbedContents",
    body: {
      requests: [1, 2].map(() => ({
        model: "models/gemini-embedding-001",
        content: { parts: [{ text: "Four bytes each." }] },
      })),
    },
    answer: { embeddings: [{ values: [0.25] }, { values: [0.5] }] },
    usage: "estimated",
    used: { "gemini-embedding-001": { prompt_tokens: 8, completion_tokens: 0 } },
  },
];
