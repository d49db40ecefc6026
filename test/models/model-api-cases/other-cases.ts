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
];
