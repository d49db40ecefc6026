import { named, type ModelApiCase } from "./model-api-case.ts";

type Json = Readonly<Record<string, unknown>>;

const model = "gpt-5";
const asked = { model, input: "What did it cost?" };
const streamed = { ...asked, stream: true };

const usageOf = (input: number, output: number, details: Json = {}): Json => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: 0, ...details },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: input + output,
});
const response = (more: Json = {}): Json => ({
  id: "resp_0a1B2c3D4e5F6a7B8c9D",
  object: "response",
  model,
  status: "completed",
  service_tier: "default",
  output: [],
  usage: usageOf(100, 20),
  ...more,
});
const begun = response({ status: "in_progress", usage: null, service_tier: "auto" });
const created = named("response.created", { response: begun });
const delta = named("response.output_text.delta", { delta: "Four bytes each." });
const call = (type: string, action?: string): Json => ({
  type,
  id: "x",
  ...(action === undefined ? {} : { action: { type: action } }),
});
const common = { path: "/responses", body: asked, usage: "exact", outcome: "finished" } as const;
const whole = { [model]: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120, requests: 1 } };

const said = { type: "message", content: [{ type: "output_text", text: "Four bytes each." }] };
const refused = { type: "message", content: [{ type: "refusal", refusal: "No, never." }] };
const thought = {
  type: "reasoning",
  summary: [{ type: "summary_text", text: "Thinking" }],
  encrypted_content: "x".repeat(400),
};
const called = { type: "function_call", call_id: "c", name: "find", arguments: '{"city":"Rome"}' };
const found = { ...call("file_search_call"), results: [{ text: "y".repeat(400) }] };
const unsaid = (more: Json): Json => {
  const { usage: _, ...others } = response(more);
  return others;
};
const estimates = { ...common, number: 20, usage: "estimated" } as const;
const tokens = (completion_tokens: number): ModelApiCase["used"] => ({
  [model]: { prompt_tokens: 5, completion_tokens, total_tokens: 5 + completion_tokens, requests: 1 },
});

const withoutUsage: readonly ModelApiCase[] = [
  ...[
    unsaid({ output: [said] }),
    response({ usage: null, output: [said], status: "incomplete" }),
    response({ usage: {}, output: [said] }),
    response({ usage: usageOf(0, 0), output: [said] }),
  ].map((answer, at) => ({ ...estimates, name: `text without usage ${at}`, answer, used: tokens(4) })),
  { ...estimates, name: "no usage and no output", answer: response({ usage: null }), used: tokens(0) },
  {
    ...estimates,
    name: "all kinds of output without usage, but not what a tool found",
    answer: response({ usage: null, status: "incomplete", output: [thought, called, refused, found] }),
    used: tokens(10),
    lines: { storage_searches: 1 },
  },
  {
    ...estimates,
    name: "searches without usage",
    answer: response({
      usage: null,
      output: ["search", "open_page", "search", "find_in_page", "search"]
        .map((action) => call("web_search_call", action))
        .concat(said),
    }),
    used: tokens(4),
    lines: { web_searches: 3 },
  },
  ...["completed", "incomplete"].map((status) => ({
    ...estimates,
    name: `a stream that is ${status} without usage`,
    body: streamed,
    answer: [created, delta, named(`response.${status}`, { response: response({ status, usage: null }) })],
    used: { [model]: { completion_tokens: 4 } },
  })),
  {
    ...estimates,
    name: "a stream without deltas and usage",
    body: streamed,
    answer: [
      created,
      named("response.completed", {
        response: unsaid({ output: [said, call("web_search_call", "search")] }),
      }),
    ],
    used: { [model]: { completion_tokens: 4 } },
    lines: { web_searches: 1 },
  },
  {
    ...estimates,
    name: "a stream that fails after some output",
    body: streamed,
    answer: [
      created,
      delta,
      named("response.output_item.done", { item: call("web_search_call", "search") }),
      named("response.failed", {
        response: response({ status: "failed", usage: null, error: { message: "It broke." } }),
      }),
    ],
    outcome: "error",
    used: { [model]: { completion_tokens: 4 } },
    lines: { web_searches: 1 },
    exception: "It broke.",
  },
  {
    ...estimates,
    name: "searches of a stream without its end",
    body: streamed,
    answer: [created, named("response.output_item.done", { item: call("web_search_call", "search") }), delta],
    outcome: "upstream_cut",
    used: { [model]: { completion_tokens: 4 } },
    lines: { web_searches: 1 },
  },
  {
    ...estimates,
    name: "images without usage",
    answer: response({
      usage: null,
      output: [said],
      tool_usage: { image_gen: { input_tokens: 12, output_tokens: 272 } },
    }),
    used: { ...tokens(4), "gpt-image-1": { prompt_tokens: 12, completion_tokens: 272 } },
  },
  {
    ...common,
    number: 4,
    name: "a failure without usage and output",
    answer: response({ status: "failed", usage: usageOf(0, 0), error: { message: "It broke." } }),
    usage: "none",
    outcome: "error",
    used: {},
  },
];

export const responsesCases: readonly ModelApiCase[] = [
  { ...common, number: 1, name: "a response in one piece", answer: response(), used: whole },
  {
    ...common,
    number: 2,
    name: "a stream counts with its last event alone",
    body: streamed,
    answer: [
      created,
      named("response.in_progress", { response: { ...begun, usage: usageOf(7, 7) } }),
      delta,
      named("response.completed", { response: response() }),
    ],
    used: whole,
  },
  {
    ...common,
    number: 3,
    name: "an incomplete response is charged",
    body: streamed,
    answer: [
      created,
      delta,
      named("response.incomplete", {
        response: response({
          status: "incomplete",
          incomplete_details: { reason: "max_output_tokens" },
        }),
      }),
    ],
    used: whole,
  },
  {
    ...common,
    number: 4,
    name: "an error, then a failure without usage",
    body: streamed,
    answer: [
      created,
      named("error", { code: "server_error", message: "It broke.", param: null }),
      named("response.failed", {
        response: response({
          status: "failed",
          usage: null,
          error: { code: "server_error", message: "It broke." },
        }),
      }),
    ],
    usage: "none",
    outcome: "error",
    used: {},
    exception: "It broke.",
  },
  {
    ...common,
    number: 4,
    name: "a failure with usage is charged",
    answer: response({ status: "failed", error: { code: "server_error", message: "It broke." } }),
    outcome: "error",
    used: whole,
    exception: "It broke.",
  },
  {
    ...common,
    number: 5,
    name: "cached tokens are part of the input",
    answer: response({ usage: usageOf(2006, 300, { cached_tokens: 1920 }) }),
    used: { [model]: { prompt_tokens: 2006, cache_read_input_tokens: 1920, completion_tokens: 300 } },
    lines: { uncached_prompt_tokens: 86, cache_read_input_tokens: 1920, completion_tokens: 300 },
  },
  {
    ...common,
    number: 6,
    name: "tokens written to the cache are part of the input",
    answer: response({ usage: usageOf(2000, 10, { cached_tokens: 500, cache_write_tokens: 1000 }) }),
    used: { [model]: { prompt_tokens: 2000, cache_creation_input_tokens: 1000 } },
    lines: { uncached_prompt_tokens: 500, cache_creation_input_tokens: 1000 },
  },
  {
    ...common,
    number: 7,
    name: "reasoning is part of the output",
    answer: response({ usage: { ...usageOf(10, 700), output_tokens_details: { reasoning_tokens: 500 } } }),
    used: { [model]: { completion_tokens: 700, total_tokens: 710 } },
    lines: { completion_tokens: 700 },
  },
  {
    ...common,
    number: 8,
    name: "searches of the web, but not the pages that they open",
    answer: response({
      output: [
        call("web_search_call", "search"),
        call("web_search_call", "open_page"),
        call("web_search_call", "search"),
      ],
    }),
    used: whole,
    lines: { web_searches: 2 },
  },
  {
    ...common,
    number: 9,
    name: "searches of files",
    answer: response({ output: [1, 2, 3].map(() => call("file_search_call")) }),
    used: whole,
    lines: { storage_searches: 3 },
  },
  {
    ...common,
    number: 10,
    name: "an image beside the usage is that of the tool's model",
    answer: response({
      tools: [{ type: "image_generation", model: "gpt-image-1" }],
      tool_usage: { image_gen: { input_tokens: 12, output_tokens: 272, total_tokens: 284 } },
    }),
    used: { ...whole, "gpt-image-1": { prompt_tokens: 12, completion_tokens: 272, total_tokens: 284 } },
    lines: { output_image_tokens: 272 },
  },
  {
    ...common,
    number: 11,
    name: "the tier is the one that served",
    body: { ...streamed, service_tier: "priority" },
    answer: [created, named("response.completed", { response: response({ service_tier: "default" }) })],
    used: whole,
    cost: (100 * 1.25 + 20 * 10) / 1_000_000,
  },
  {
    ...common,
    number: 15,
    name: "a compaction is of the model that was asked",
    path: "/responses/compact",
    answer: {
      id: "resp_c0a1B2c3D4e5F6a7B",
      object: "response.compaction",
      output: [],
      usage: usageOf(100, 20),
    },
    used: whole,
  },
  {
    ...common,
    number: 19,
    name: "response.done and [DONE] end a stream",
    body: streamed,
    answer: [created, delta, named("response.done", { response: response() }), "data: [DONE]\n\n"],
    used: whole,
  },
  {
    ...common,
    number: 20,
    name: "a stream without its end is estimated",
    body: streamed,
    answer: [created, delta],
    usage: "estimated",
    outcome: "upstream_cut",
    used: { [model]: { completion_tokens: 4 } },
  },
  ...withoutUsage,
];
