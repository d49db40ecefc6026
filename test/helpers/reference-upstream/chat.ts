import { randomUUID } from "node:crypto";

/** Supported members of a chat request; others are ignored, as on a real server. */
export interface ChatBody {
  readonly model?: string;
  readonly messages?: readonly { readonly role?: string; readonly content?: unknown }[];
  readonly stream?: boolean;
  readonly stream_options?: {
    readonly include_usage?: boolean | null;
    readonly continuous_usage_stats?: boolean;
  } | null;
  readonly n?: number;
  readonly max_tokens?: number;
  readonly tools?: readonly { readonly function?: { readonly name?: string } }[];
  readonly reasoning_effort?: string;
  readonly logprobs?: boolean;
  readonly vllm_xargs?: { readonly delay_ms?: number };
}

export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details: { readonly cached_tokens: number };
  readonly completion_tokens_details?: { readonly reasoning_tokens: number };
}

const WORDS = [
  "Every",
  " call",
  " of",
  " a",
  " trace",
  " costs",
  " what",
  " it",
  " costs",
  ",",
  " naïvely",
  " 🌲",
];
const DEFAULT_TOKENS = 8;

/** The tokens of one choice: always the same ones for the same request. */
function tokensOf(body: ChatBody): string[] {
  return Array.from({ length: body.max_tokens ?? DEFAULT_TOKENS }, (_, at) => WORDS[at % WORDS.length]!);
}

function reasoningOf(body: ChatBody): string[] {
  return body.reasoning_effort === undefined ? [] : ["Let", " me", " think"];
}

/** One token per word of the prompt, four for each message; the first 16 come from the cache when there are more. */
export function usageOf(body: ChatBody): Usage {
  const prompt = (body.messages ?? []).reduce(
    (sum, message) => sum + 4 + JSON.stringify(message.content ?? "").split(/\s+/).length,
    0,
  );
  const reasoning = reasoningOf(body).length;
  const completion = (tokensOf(body).length + reasoning) * (body.n ?? 1);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: prompt > 16 ? 16 : 0 },
    ...(reasoning === 0
      ? {}
      : { completion_tokens_details: { reasoning_tokens: reasoning * (body.n ?? 1) } }),
  };
}

/** Returns the response model: an alias is resolved to its version, the path of an open model is not. */
export function responseModel(body: ChatBody): string {
  if (body.model?.includes("/") === true) return body.model;
  return `${body.model ?? "default"}-2026-11-01`;
}

export function completionOf(body: ChatBody): object {
  return {
    ...headOf(body, "chat.completion"),
    choices: Array.from({ length: body.n ?? 1 }, (_, index) => ({
      index,
      message: messageOf(body),
      logprobs: body.logprobs === true ? { content: tokensOf(body).map(logprobOf), refusal: null } : null,
      finish_reason: usesTool(body) ? "tool_calls" : "stop",
      stop_reason: null,
    })),
    usage: usageOf(body),
  };
}

function messageOf(body: ChatBody): object {
  const tool = usesTool(body);
  if (tool !== undefined) {
    return {
      role: "assistant",
      content: null,
      tool_calls: [
        { id: "call_1", type: "function", function: { name: tool, arguments: TOOL_ARGUMENTS.join("") } },
      ],
    };
  }
  const reasoning = reasoningOf(body);
  return {
    role: "assistant",
    content: tokensOf(body).join(""),
    ...(reasoning.length === 0 ? {} : { reasoning_content: reasoning.join("") }),
  };
}

const TOOL_ARGUMENTS = ['{"tree', '":"sum', '"}'];

function usesTool(body: ChatBody): string | undefined {
  return body.tools?.[0]?.function?.name;
}

/** The data of the events of a streamed completion, in order, without the end marker. */
export function chunksOf(body: ChatBody, options: { usageByDefault: boolean }): object[] {
  const head = headOf(body, "chat.completion.chunk");
  const indexes = Array.from({ length: body.n ?? 1 }, (_, index) => index);
  const chunk = (choice: object): object => ({ ...head, choices: [choice] });
  const chunks = indexes.flatMap((index) => [
    chunk({ index, delta: { role: "assistant", content: "" }, finish_reason: null }),
    ...deltasOf(body).map((delta) => chunk({ index, delta, finish_reason: null })),
    chunk({ index, delta: {}, finish_reason: usesTool(body) === undefined ? "stop" : "tool_calls" }),
  ]);
  const includesUsage = body.stream_options?.include_usage ?? options.usageByDefault;
  if (!includesUsage) return chunks;
  const usage = usageOf(body);
  const running = body.stream_options?.continuous_usage_stats === true;
  const counted = chunks.map((one, at) => ({
    ...one,
    usage: running ? { ...usage, completion_tokens: at, total_tokens: usage.prompt_tokens + at } : null,
  }));
  return [...counted, { ...head, choices: [], usage }];
}

function deltasOf(body: ChatBody): object[] {
  const tool = usesTool(body);
  if (tool !== undefined) {
    const call = { index: 0, id: "call_1", type: "function", function: { name: tool, arguments: "" } };
    return [
      { tool_calls: [call] },
      ...TOOL_ARGUMENTS.map((part) => ({ tool_calls: [{ index: 0, function: { arguments: part } }] })),
    ];
  }
  return [
    ...reasoningOf(body).map((text) => ({ reasoning_content: text })),
    ...tokensOf(body).map((text) => ({ content: text })),
  ];
}

function headOf(body: ChatBody, object: string) {
  return {
    id: `chatcmpl-${randomUUID()}`,
    object,
    created: Math.floor(Date.now() / 1000),
    model: responseModel(body),
  };
}

function logprobOf(token: string): object {
  return { token, logprob: -0.25, bytes: [...Buffer.from(token)], top_logprobs: [] };
}
