export type Json = Readonly<Record<string, unknown>>;

/** True usage of a response, named as in `/trace/usage`. */
export type Served = Readonly<Record<string, number>>;

export interface Answer {
  readonly type: "application/json" | "text/event-stream";
  /** The events of a stream, or the single piece of a body. */
  readonly pieces: readonly string[];
  readonly served: Served;
}

export interface Counts {
  readonly input: number;
  readonly cached: number;
  readonly written: number;
  readonly output: number;
}

export const COUNTS: Counts = { input: 120, cached: 40, written: 16, output: 9 };
const WORDS = ["Every", " call", " costs", " naïvely", " 🌲"];

const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;
const typed = (data: Json & { readonly type: string }): string => `event: ${data.type}\n${event(data)}`;

/** Returns the response of an endpoint as its provider documents it; `undefined` for an unknown endpoint. */
export function answerOf(path: string, body: Json, counts: Counts = COUNTS): Answer | undefined {
  const streams = body["stream"] === true;
  const model = String(body["model"]);
  switch (path) {
    case "/responses":
    case "/responses/compact":
      return streams ? streamOfResponse(model, counts) : response(model, counts);
    case "/messages":
      return streams ? streamOfMessage(model, counts) : message(model, counts);
    case "/completions":
      return streams ? streamOfText(model, counts, body["stream_options"]) : completion(model, counts);
    case "/chat/completions":
      return streams ? streamOfChat(model, counts, body["stream_options"]) : chatCompletion(model, counts);
    case "/embeddings":
      return embeddings(model, counts);
    case "/rerank":
      return rerank();
    case "/images/generations":
      return streams ? streamOfImage(counts) : images(counts);
    case "/audio/transcriptions":
      return streams ? streamOfTranscript(counts) : transcript(counts);
    case "/audio/speech":
      return streamOfSpeech(counts);
    default:
      return undefined;
  }
}

const whole = (value: object, served: Served): Answer => ({
  type: "application/json",
  pieces: [JSON.stringify(value)],
  served,
});
const stream = (pieces: readonly string[], served: Served): Answer => ({
  type: "text/event-stream",
  pieces,
  served,
});

function responseOf(model: string, status: string, { input, cached, output }: Counts): Json {
  const text = { type: "output_text", text: WORDS.join(""), annotations: [] };
  const item = { id: "msg_1", type: "message", role: "assistant", status: "completed", content: [text] };
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 2 },
    total_tokens: input + output,
  };
  const isOver = status === "completed";
  return {
    id: "resp_1",
    object: "response",
    created_at: 1_767_225_600,
    model,
    status,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    tool_choice: "auto",
    tools: [],
    output: isOver ? [item] : [],
    usage: isOver ? usage : null,
  };
}

const ofResponse = ({ input, cached, output }: Counts): Served => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  cache_read_input_tokens: cached,
});

function response(model: string, counts: Counts): Answer {
  return whole(responseOf(model, "completed", counts), ofResponse(counts));
}

function streamOfResponse(model: string, counts: Counts): Answer {
  const at = { output_index: 0, item_id: "msg_1" };
  const done = responseOf(model, "completed", counts);
  const [item] = done["output"] as Json[];
  const started = responseOf(model, "in_progress", counts);
  const part = { type: "output_text", text: "", annotations: [] };
  const events: (Json & { readonly type: string })[] = [
    { type: "response.created", response: started },
    { type: "response.in_progress", response: started },
    {
      type: "response.output_item.added",
      output_index: 0,
      item: { ...item, status: "in_progress", content: [] },
    },
    { type: "response.content_part.added", ...at, content_index: 0, part },
    ...WORDS.map((delta) => ({ type: "response.output_text.delta", ...at, content_index: 0, delta })),
    { type: "response.output_text.done", ...at, content_index: 0, text: WORDS.join("") },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: done },
  ];
  return stream(
    events.map((one, sequence_number) => typed({ ...one, sequence_number })),
    ofResponse(counts),
  );
}

function messageOf(model: string, counts: Counts, isWhole: boolean): Json {
  return {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model,
    content: isWhole ? [{ type: "text", text: WORDS.join("") }] : [],
    stop_reason: isWhole ? "end_turn" : null,
    stop_sequence: null,
    usage: {
      input_tokens: counts.input,
      cache_read_input_tokens: counts.cached,
      cache_creation_input_tokens: counts.written,
      output_tokens: isWhole ? counts.output : 1,
      service_tier: "standard",
    },
  };
}

const ofMessage = ({ input, cached, written, output }: Counts): Served => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  cache_read_input_tokens: cached,
  cache_creation_input_tokens: written,
});

function message(model: string, counts: Counts): Answer {
  return whole(messageOf(model, counts, true), ofMessage(counts));
}

function streamOfMessage(model: string, counts: Counts): Answer {
  const events: (Json & { readonly type: string })[] = [
    { type: "message_start", message: messageOf(model, counts, false) },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "ping" },
    ...WORDS.map((text) => ({
      type: "content_block_delta",
      index: 0,
      delta: { type: "text_delta", text },
    })),
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: { output_tokens: counts.output },
    },
    { type: "message_stop" },
  ];
  return stream(events.map(typed), ofMessage(counts));
}

function embeddings(model: string, { input }: Counts): Answer {
  const data = [0, 1].map((index) => ({ object: "embedding", index, embedding: [0.25, -0.5, index] }));
  const usage = { prompt_tokens: input, total_tokens: input };
  return whole({ object: "list", data, model, usage }, { prompt_tokens: input, total_tokens: input });
}

/** Searches are what is paid for, and stand in no count of tokens. */
function rerank(): Answer {
  const results = [{ index: 0, relevance_score: 0.75 }];
  return whole({ id: "rr_1", results, meta: { billed_units: { search_units: 1 } } }, {});
}

const usageOf = ({ input, output }: Counts): Json => ({
  input_tokens: input,
  output_tokens: output,
  total_tokens: input + output,
});

function images(counts: Counts): Answer {
  const data = [{ b64_json: "aW1hZ2U=" }];
  return whole({ created: 1_767_225_600, data, usage: usageOf(counts) }, ofCompletion(counts));
}

function streamOfImage(counts: Counts): Answer {
  const partial = [0, 1].map((partial_image_index) =>
    typed({ type: "image_generation.partial_image", partial_image_index, b64_json: "aW1h" }),
  );
  const done = { type: "image_generation.completed", b64_json: "aW1hZ2U=", usage: usageOf(counts) };
  return stream([...partial, typed(done)], ofCompletion(counts));
}

function streamOfSpeech(counts: Counts): Answer {
  const deltas = WORDS.map(() => typed({ type: "speech.audio.delta", audio: "c291bmQ=" }));
  const done = { type: "speech.audio.done", usage: usageOf(counts) };
  return stream([...deltas, typed(done)], ofCompletion(counts));
}

const usageOfSound = (counts: Counts): Json => ({
  type: "tokens",
  ...usageOf(counts),
  input_token_details: { text_tokens: 0, audio_tokens: counts.input },
});

function transcript(counts: Counts): Answer {
  return whole({ text: WORDS.join(""), usage: usageOfSound(counts) }, ofCompletion(counts));
}

function streamOfTranscript(counts: Counts): Answer {
  const deltas = WORDS.map((delta) => typed({ type: "transcript.text.delta", delta }));
  const done = { type: "transcript.text.done", text: WORDS.join(""), usage: usageOfSound(counts) };
  return stream([...deltas, typed(done)], ofCompletion(counts));
}

const ofCompletion = ({ input, output }: Counts): Served => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
});
const completionOf = (model: string, choices: readonly object[]) => ({
  id: "cmpl-1",
  object: "text_completion",
  created: 1_767_225_600,
  model,
  choices,
});

function completion(model: string, counts: Counts): Answer {
  const choice = { text: WORDS.join(""), index: 0, logprobs: null, finish_reason: "stop" };
  return whole({ ...completionOf(model, [choice]), usage: ofCompletion(counts) }, ofCompletion(counts));
}

/** The last chunk has the usage if it was asked for. */
function chunksOf(texts: readonly object[], common: object, counts: Counts, options: unknown): Answer {
  const includesUsage = (options as Json | undefined)?.["include_usage"] === true;
  const usage = event({ ...common, choices: [], usage: ofCompletion(counts) });
  const chunks = texts.map((choice) => event({ ...common, choices: [{ index: 0, ...choice }] }));
  return stream([...chunks, ...(includesUsage ? [usage] : []), "data: [DONE]\n\n"], ofCompletion(counts));
}

function streamOfText(model: string, counts: Counts, options: unknown): Answer {
  const choice = (text: string, finish_reason: string | null): object => ({
    text,
    logprobs: null,
    finish_reason,
  });
  const texts = [...WORDS.map((text) => choice(text, null)), choice("", "stop")];
  return chunksOf(texts, completionOf(model, []), counts, options);
}

function streamOfChat(model: string, counts: Counts, options: unknown): Answer {
  const common = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_767_225_600, model };
  const texts = WORDS.map((content) => ({ delta: { content }, finish_reason: null }));
  return chunksOf([...texts, { delta: {}, finish_reason: "stop" }], common, counts, options);
}

function chatCompletion(model: string, counts: Counts): Answer {
  const message = { role: "assistant", content: WORDS.join("") };
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  const common = { id: "chatcmpl-1", object: "chat.completion", created: 1_767_225_600, model };
  return whole({ ...common, choices, usage: ofCompletion(counts) }, ofCompletion(counts));
}
