import { named, type ModelApiCase } from "./model-api-case.ts";

type Json = Readonly<Record<string, unknown>>;

const model = "claude-sonnet-4-5";
const other = "claude-haiku-4-5";
const asked = { model, max_tokens: 100, messages: [{ role: "user", content: "What did it cost?" }] };
const streamed = { ...asked, stream: true };

const usage = {
  input_tokens: 10,
  cache_creation_input_tokens: 200,
  cache_read_input_tokens: 300,
  output_tokens: 40,
};
const message = (more: Json = {}): Json => ({
  id: "msg_01AbCdEfGhIjKlMnOpQrSt",
  type: "message",
  role: "assistant",
  model,
  content: [{ type: "text", text: "Eight by" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage,
  ...more,
});
const start = (of: Json, more: Json = {}): string =>
  named("message_start", { message: message({ content: [], stop_reason: null, usage: of, ...more }) });
const text = [
  named("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
  named("content_block_delta", { index: 0, delta: { type: "text_delta", text: "Eight by" } }),
  named("content_block_stop", { index: 0 }),
];
const end = (of: Json, stop_reason: string | null = "end_turn"): string =>
  named("message_delta", { delta: { stop_reason, stop_sequence: null }, usage: of });
const stop = named("message_stop");
const common = { path: "/messages", body: streamed, usage: "exact", outcome: "finished" } as const;
const iteration = (type: string, input: number, output: number, of?: string): Json => ({
  type,
  input_tokens: input,
  output_tokens: output,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
  ...(of === undefined ? {} : { model: of }),
});
const whole = (iterations: readonly Json[], of: Json, more: Json = {}): Json =>
  message({
    usage: { cache_creation_input_tokens: 0, cache_read_input_tokens: 0, ...of, iterations },
    ...more,
  });

export const messagesCases: readonly ModelApiCase[] = [
  {
    ...common,
    number: 21,
    name: "caches are beside the input",
    body: asked,
    answer: message(),
    used: {
      [model]: {
        prompt_tokens: 10,
        cache_creation_input_tokens: 200,
        cache_read_input_tokens: 300,
        completion_tokens: 40,
        total_tokens: 50,
        requests: 1,
      },
    },
    lines: { uncached_prompt_tokens: 10, cache_creation_input_tokens: 200, cache_read_input_tokens: 300 },
  },
  {
    ...common,
    number: 22,
    name: "a later count replaces an earlier one",
    answer: [
      start({ ...usage, output_tokens: 1 }),
      ...text,
      end({ output_tokens: 50 }, null),
      end({ output_tokens: 90 }),
      stop,
    ],
    used: { [model]: { completion_tokens: 90, total_tokens: 100 } },
  },
  {
    ...common,
    number: 23,
    name: "what the last count does not say stays as the start has it",
    answer: [
      start({
        ...usage,
        cache_creation: { ephemeral_5m_input_tokens: 50, ephemeral_1h_input_tokens: 150 },
        output_tokens: 1,
      }),
      ...text,
      end({
        input_tokens: null,
        cache_creation_input_tokens: null,
        cache_read_input_tokens: null,
        cache_creation: null,
        output_tokens: 40,
      }),
      stop,
    ],
    used: { [model]: { prompt_tokens: 10, cache_creation_input_tokens: 200, cache_read_input_tokens: 300 } },
    lines: { cache_write_1h_tokens: 150, cache_creation_input_tokens: 50 },
  },
  {
    ...common,
    number: 24,
    name: "a search raises the input late",
    answer: [
      start({ input_tokens: 2037, output_tokens: 1 }),
      ...text,
      end({ input_tokens: 15_665, output_tokens: 400, server_tool_use: { web_search_requests: 1 } }),
      stop,
    ],
    used: { [model]: { prompt_tokens: 15_665, completion_tokens: 400 } },
    lines: { web_searches: 1, uncached_prompt_tokens: 15_665 },
  },
  {
    ...common,
    number: 24,
    name: "what a search writes to the cache late lasts five minutes",
    answer: [
      start({
        ...usage,
        cache_creation: { ephemeral_5m_input_tokens: 50, ephemeral_1h_input_tokens: 150 },
      }),
      ...text,
      end({ output_tokens: 40, cache_creation_input_tokens: 700 }),
      stop,
    ],
    used: { [model]: { cache_creation_input_tokens: 700, completion_tokens: 40 } },
    lines: { cache_write_1h_tokens: 150, cache_creation_input_tokens: 550 },
  },
  {
    ...common,
    number: 25,
    name: "writes of five minutes and of an hour",
    body: asked,
    answer: message({
      usage: {
        ...usage,
        cache_creation_input_tokens: 500,
        cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 400 },
      },
    }),
    used: { [model]: { cache_creation_input_tokens: 500 } },
    lines: { cache_write_1h_tokens: 400, cache_creation_input_tokens: 100 },
  },
  {
    ...common,
    number: 27,
    name: "an error in the middle keeps the input",
    answer: [
      start({ ...usage, output_tokens: 1 }),
      ...text,
      named("error", { error: { type: "overloaded_error", message: "Overloaded" } }),
    ],
    usage: "partial",
    outcome: "error",
    used: { [model]: { prompt_tokens: 10, cache_read_input_tokens: 300, completion_tokens: 2 } },
    exception: "Overloaded",
  },
  {
    ...common,
    number: 28,
    name: "a stream may end with its last count",
    answer: [start({ ...usage, output_tokens: 1 }), ...text, end({ output_tokens: 40 })],
    used: { [model]: { completion_tokens: 40 } },
  },
  {
    ...common,
    number: 30,
    name: "a compaction comes on top",
    body: asked,
    answer: whole([iteration("compaction", 180_000, 3500), iteration("message", 23_000, 1000, model)], {
      input_tokens: 23_000,
      output_tokens: 1000,
    }),
    used: { [model]: { prompt_tokens: 203_000, completion_tokens: 4500, requests: 1 } },
  },
  {
    ...common,
    number: 31,
    name: "an advisor is an entry of its own",
    body: asked,
    answer: whole(
      [
        iteration("message", 1000, 300, model),
        iteration("advisor_message", 823, 1612, other),
        iteration("message", 760, 231, model),
      ],
      { input_tokens: 1760, output_tokens: 531 },
    ),
    used: {
      [model]: { prompt_tokens: 1760, completion_tokens: 531, requests: 1 },
      [other]: { prompt_tokens: 823, completion_tokens: 1612, total_tokens: 2435 },
    },
  },
  {
    ...common,
    number: 32,
    name: "a declined attempt without a word is free",
    body: asked,
    answer: whole(
      [iteration("message", 535, 0, model), iteration("fallback_message", 412, 264, other)],
      { input_tokens: 412, output_tokens: 264 },
      { model: other },
    ),
    used: { [other]: { prompt_tokens: 412, completion_tokens: 264, requests: 1 } },
  },
  {
    ...common,
    number: 32,
    name: "an attempt that declined in the middle is charged",
    body: asked,
    answer: whole(
      [iteration("message", 535, 17, model), iteration("fallback_message", 412, 264, other)],
      { input_tokens: 412, output_tokens: 264 },
      { model: other },
    ),
    used: {
      [other]: { prompt_tokens: 412, completion_tokens: 264, requests: 1 },
      [model]: { prompt_tokens: 535, completion_tokens: 17 },
    },
  },
  {
    ...common,
    number: 33,
    name: "a refusal without a word costs nothing",
    body: asked,
    answer: message({ content: [], stop_reason: "refusal" }),
    used: { [model]: { prompt_tokens: 10, cache_read_input_tokens: 300, completion_tokens: 40 } },
    cost: 0,
  },
  {
    ...common,
    number: 33,
    name: "a refusal in the middle of an answer is charged",
    answer: [start({ ...usage, output_tokens: 1 }), ...text, end({ output_tokens: 40 }, "refusal"), stop],
    used: { [model]: { completion_tokens: 40 } },
    cost: (10 * 3 + 200 * 3.75 + 300 * 0.3 + 40 * 15) / 1_000_000,
  },
  ...[429, 529, 413].map((status): ModelApiCase => ({
    ...common,
    number: 36,
    name: `an error ${status} passes as it is`,
    status,
    headers: {
      "retry-after": "7",
      "x-should-retry": "true",
      "anthropic-ratelimit-unified-status": "rejected",
      "request-id": "req_011AbC",
      "content-type": "application/json",
    },
    answer: `{"type":"error", "error":{"type":"e${status}","message":"No."},"request_id":"req_011AbC"}`,
    usage: "none",
    outcome: "error",
    used: {},
    exception: "No.",
  })),
  {
    ...common,
    number: 40,
    name: "vLLM's input has what it cached",
    body: asked,
    answer: message({ usage: { input_tokens: 510, output_tokens: 40 } }),
    used: { [model]: { prompt_tokens: 510, completion_tokens: 40, cache_read_input_tokens: 0 } },
    lines: { uncached_prompt_tokens: 510 },
  },
];
