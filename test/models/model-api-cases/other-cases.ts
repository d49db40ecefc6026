import type { ModelApiCase } from "./model-api-case.ts";

const chunk = (text: string, usage?: object, finish_reason: string | null = null): string =>
  `data: ${JSON.stringify({
    id: "cmpl-a1B2c3D4e5F6g7H8",
    object: "text_completion",
    model: "vllm-model",
    choices: [{ index: 0, text, finish_reason }],
    ...(usage === undefined ? {} : { usage }),
  })}\n\n`;
const counts = (prompt_tokens: number, completion_tokens: number): object => ({
  prompt_tokens,
  completion_tokens,
  total_tokens: prompt_tokens + completion_tokens,
});
const form = (fields: Readonly<Record<string, string>>): Buffer =>
  Buffer.from(
    [
      '--b\r\ncontent-disposition: form-data; name="file"; filename="f.wav"\r\n\r\nsound\r\n',
      ...Object.entries(fields).map(
        ([name, value]) => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
      ),
      "--b--\r\n",
    ].join(""),
  );
const ofForm = { "content-type": "multipart/form-data; boundary=b" };
const common = { usage: "exact", outcome: "finished" } as const;

const message = { role: "assistant", content: "Four bytes each." };
const chat = {
  id: "chatcmpl-a1B2c3D4e5F6g7H8",
  model: "m",
  choices: [{ index: 0, message, finish_reason: "stop" }],
};
const said = {
  id: "msg_a1B2c3D4e5F6g7H8",
  type: "message",
  model: "m",
  content: [{ type: "text", text: "Four bytes each." }],
  stop_reason: "end_turn",
};

export const otherCases: readonly ModelApiCase[] = [
  {
    ...common,
    number: 39,
    name: "embeddings of tokens, as base64",
    path: "/embeddings",
    body: { model: "text-embedding-3-small", input: [[1, 2, 3]], encoding_format: "base64" },
    answer: {
      object: "list",
      model: "text-embedding-3-small",
      data: [{ object: "embedding", index: 0, embedding: "AACAPwAAAAA=" }],
      usage: { prompt_tokens: 3, total_tokens: 3 },
    },
    used: {
      "text-embedding-3-small": { prompt_tokens: 3, completion_tokens: 0, total_tokens: 3, requests: 1 },
    },
  },
  {
    ...common,
    number: 39,
    name: "a part of a second counts as a second",
    path: "/audio/transcriptions",
    body: form({ model: "whisper-1" }),
    requestHeaders: ofForm,
    answer: { text: "Hm.", usage: { type: "duration", seconds: 1.2 } },
    used: { "whisper-1": { prompt_tokens: 0, requests: 1 } },
    lines: { input_audio_seconds: 2 },
  },
  {
    ...common,
    number: 39,
    name: "subtitles tell no usage",
    path: "/audio/transcriptions",
    body: form({ model: "whisper-1", response_format: "srt" }),
    requestHeaders: ofForm,
    headers: { "content-type": "text/plain" },
    answer: "1\n00:00:00,000 --> 00:00:01,200\nHm.\n",
    usage: "none",
    used: {},
  },
  {
    ...common,
    number: 39,
    name: "sound tells no usage",
    path: "/audio/speech",
    body: { model: "tts-1", input: "Hm", voice: "ash" },
    headers: { "content-type": "audio/mpeg" },
    answer: "sound",
    usage: "none",
    used: {},
  },
  {
    ...common,
    number: 40,
    name: "of counts that grow, the last one holds",
    path: "/completions",
    body: { model: "vllm-model", prompt: "Hm", stream: true },
    answer: [
      chunk("a", counts(5, 1)),
      chunk("b", counts(5, 2)),
      chunk("c", counts(5, 3), "stop"),
      "data: [DONE]\n\n",
    ],
    used: { "vllm-model": { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 } },
  },
  ...["/embeddings", "/rerank"].map((path): ModelApiCase => {
    const answer = { object: "list", model: "voyage-3.5", data: [], usage: { total_tokens: 26 } };
    const used = { prompt_tokens: 26, completion_tokens: 0, total_tokens: 26, requests: 1 };
    return {
      ...common,
      number: 39,
      name: `${path} with a total alone`,
      path,
      body: { model: "voyage-3.5", input: "Hm", query: "Hm", documents: ["Hm"] },
      answer,
      used: { "voyage-3.5": used },
      lines: { uncached_prompt_tokens: 26 },
    };
  }),
  ...[
    [{ total_tokens: 30, prompt_tokens: 9 }, 9, 21],
    [{ total_tokens: 30, completion_tokens: 4, prompt_tokens: 0 }, 26, 4],
  ].map(([usage, prompt_tokens, completion_tokens]): ModelApiCase => ({
    ...common,
    number: 40,
    name: `the rest of ${JSON.stringify(usage)}`,
    path: "/chat/completions",
    body: { model: "m", messages: [{ role: "user", content: "Hm" }] },
    answer: { ...chat, usage },
    used: { m: { prompt_tokens, completion_tokens, total_tokens: 30 } as Record<string, number> },
  })),
  ...[
    ["/chat/completions", { ...chat, usage: null }],
    ["/chat/completions", chat],
    ["/completions", { ...chat, choices: [{ index: 0, text: "Four bytes each.", finish_reason: "stop" }] }],
    ["/messages", said],
    ["/messages", { ...said, usage: { input_tokens: 0, output_tokens: 0 } }],
    ["/messages", { ...said, content: [{ type: "tool_use", name: "find", input: { of: "Four bytes." } }] }],
  ].map(([path, answer], at): ModelApiCase => ({
    ...common,
    number: 40,
    name: `${path as string} without usage ${at}`,
    path: path as string,
    body: { model: "m", prompt: "Hm", messages: [{ role: "user", content: "Hm" }] },
    answer: answer as object as Readonly<Record<string, unknown>>,
    usage: "estimated",
    used: { m: { completion_tokens: 4, requests: 1 } },
  })),
];
