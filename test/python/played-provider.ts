import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** One answer of the provider that is played: the model that answered and its usage in that provider's own words. */
export interface Served {
  readonly model: string;
  readonly usage: Readonly<Record<string, unknown>>;
  readonly streamed?: boolean;
}

export interface PlayedProvider {
  /** Without a path: OpenAI's interface is below `/v1`, Anthropic's too. */
  readonly url: string;
  /** Returns the responses since the previous call of this function. */
  takeServed(): readonly Served[];
  close(): Promise<void>;
}

interface Json {
  readonly [name: string]: unknown;
}

/** Answers as OpenAI and Anthropic do. No two answers have the same counts, so that a doubled or lost one shows. */
export async function startPlayedProvider(): Promise<PlayedProvider> {
  let served: Served[] = [];
  let number = 0;
  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => {
      response.statusCode = 500;
      response.end(JSON.stringify({ error: { message: String(error), type: "played_provider" } }));
    });
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = JSON.parse((await text(request)) || "{}") as Json;
    const { pathname } = new URL(request.url ?? "/", "http://provider");
    const play = routes[pathname] ?? playOfPath(pathname);
    if (play === undefined) {
      response.writeHead(404, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: "no such route", type: "invalid_request_error" } }));
      return;
    }
    if (JSON.stringify(body).includes("please fail")) {
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: "as you wish", type: "invalid_request_error" } }));
      return;
    }
    number++;
    const played = play(body, number);
    const streamed = body["stream"] === true || pathname.endsWith(":streamGenerateContent");
    served.push({ ...played.served, streamed });
    if (!streamed) {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(played.whole));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of played.events) response.write(event);
    response.end();
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    takeServed() {
      const all = served;
      served = [];
      return all;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Played {
  readonly served: Served;
  readonly whole: Json;
  readonly events: readonly string[];
}

const routes: Readonly<Record<string, (body: Json, number: number) => Played>> = {
  "/v1/chat/completions": playChat,
  "/v1/responses": playResponse,
  "/v1/messages": playMessage,
};

const sentence = "Forty-two, as always.";

/** A model that is offered a tool calls the first one, once. */
function toolToCall(body: Json, alreadyCalled: boolean): { readonly name: string } | undefined {
  const [tool] = (body["tools"] ?? []) as readonly Json[];
  if (tool === undefined || alreadyCalled) return undefined;
  const inner = (tool["function"] ?? tool) as Json;
  return { name: inner["name"] as string };
}

const toolArguments = JSON.stringify({ city: "Zürich" });

function playChat(body: Json, number: number): Played {
  const model = `${body["model"] as string}-2024-08-06`;
  const usage = {
    prompt_tokens: 420 + number,
    completion_tokens: 37 + number,
    total_tokens: 457 + 2 * number,
    prompt_tokens_details: { cached_tokens: 128, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
  };
  const messages = (body["messages"] ?? []) as readonly Json[];
  const tool = toolToCall(
    body,
    messages.some(({ role }) => role === "tool"),
  );
  const call = { index: 0, id: `call_${number}`, type: "function" };
  const toolCalls =
    tool === undefined ? undefined : [{ ...call, function: { name: tool.name, arguments: toolArguments } }];
  const message =
    toolCalls === undefined
      ? { role: "assistant", content: sentence }
      : { role: "assistant", content: null, tool_calls: toolCalls };
  const head = { id: `chatcmpl-${uniqueId(number)}`, created: 1_760_000_000, model };
  const finish = toolCalls === undefined ? "stop" : "tool_calls";
  const chunk = (more: Json) =>
    `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", ...more })}\n\n`;
  const wantsUsage = (body["stream_options"] as Json | undefined)?.["include_usage"] === true;
  return {
    served: { model, usage },
    whole: {
      ...head,
      object: "chat.completion",
      choices: [{ index: 0, message, finish_reason: finish, logprobs: null }],
      usage,
      service_tier: "default",
    },
    events: [
      chunk({ choices: [{ index: 0, delta: message, finish_reason: null }] }),
      chunk({ choices: [{ index: 0, delta: {}, finish_reason: finish }] }),
      ...(wantsUsage ? [chunk({ choices: [], usage })] : []),
      "data: [DONE]\n\n",
    ],
  };
}

function playResponse(body: Json, number: number): Played {
  const model = `${body["model"] as string}-2024-08-06`;
  const usage = {
    input_tokens: 420 + number,
    input_tokens_details: { cached_tokens: 128 },
    output_tokens: 37 + number,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 457 + 2 * number,
  };
  const input = Array.isArray(body["input"]) ? (body["input"] as readonly Json[]) : [];
  const tool = toolToCall(
    body,
    input.some(({ type }) => type === "function_call_output"),
  );
  const item =
    tool === undefined
      ? {
          type: "message",
          id: `msg_${number}`,
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: sentence, annotations: [] }],
        }
      : {
          type: "function_call",
          id: `fc_${number}`,
          call_id: `call_${number}`,
          name: tool.name,
          arguments: toolArguments,
          status: "completed",
        };
  const whole = {
    id: `resp_${uniqueId(number)}`,
    object: "response",
    created_at: 1_760_000_000,
    status: "completed",
    model,
    output: [item],
    parallel_tool_calls: true,
    tool_choice: "auto",
    tools: body["tools"] ?? [],
    usage,
    service_tier: "default",
  };
  const event = (type: string, more: Json, sequence: number) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence, ...more })}\n\n`;
  return {
    served: { model, usage },
    whole,
    events: [
      event(
        "response.created",
        { response: { ...whole, status: "in_progress", output: [], usage: null } },
        0,
      ),
      event("response.output_item.added", { output_index: 0, item }, 1),
      event("response.output_item.done", { output_index: 0, item }, 2),
      event("response.completed", { response: whole }, 3),
    ],
  };
}

function playMessage(body: Json, number: number): Played {
  const model = body["model"] as string;
  const usage = {
    input_tokens: 215 + number,
    cache_read_input_tokens: 801,
    cache_creation_input_tokens: 300,
    output_tokens: 50 + number,
    service_tier: "standard",
  };
  const head = { id: `msg_${uniqueId(number)}`, type: "message", role: "assistant", model };
  const end = { stop_reason: "end_turn", stop_sequence: null };
  const event = (type: string, more: Json) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
  return {
    served: { model, usage },
    whole: { ...head, content: [{ type: "text", text: sentence }], ...end, usage },
    events: [
      event("message_start", {
        message: {
          ...head,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { ...usage, output_tokens: 1 },
        },
      }),
      event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
      event("content_block_delta", { index: 0, delta: { type: "text_delta", text: sentence } }),
      event("content_block_stop", { index: 0 }),
      event("message_delta", { delta: end, usage: { output_tokens: usage.output_tokens } }),
      event("message_stop", {}),
    ],
  };
}

const GEMINI = /^\/v1(?:beta)?\/models\/[^/:]+:(?:streamG|g)enerateContent$/;

/** Gemini names the model in the path. It counts thoughts beside the output. */
function playGemini(pathname: string): (body: Json, number: number) => Played {
  const model = pathname.split(/[/:]/).at(-2)!;
  return (_body, number) => {
    const usage = {
      promptTokenCount: 420 + number,
      cachedContentTokenCount: 128,
      candidatesTokenCount: 37 + number,
      thoughtsTokenCount: 120,
      totalTokenCount: 577 + 2 * number,
    };
    const whole = {
      candidates: [
        { content: { role: "model", parts: [{ text: sentence }] }, finishReason: "STOP", index: 0 },
      ],
      usageMetadata: usage,
      modelVersion: model,
      responseId: uniqueId(number),
    };
    return { served: { model, usage }, whole, events: [`data: ${JSON.stringify(whole)}\n\n`] };
  };
}

/** Google and Amazon name the model in the path. */
function playOfPath(pathname: string): ((body: Json, number: number) => Played) | undefined {
  if (GEMINI.test(pathname)) return playGemini(pathname);
  return CONVERSE.test(pathname) ? playConverse(pathname) : undefined;
}

const CONVERSE = /^\/model\/[^/]+\/converse$/;

/** Bedrock counts cached tokens beside the input, for every model. */
function playConverse(pathname: string): (body: Json, number: number) => Played {
  const model = decodeURIComponent(pathname.split("/")[2]!);
  return (_body, number) => {
    const usage = {
      inputTokens: 215 + number,
      outputTokens: 50 + number,
      totalTokens: 457 + 2 * number,
      cacheReadInputTokens: 128,
      cacheWriteInputTokens: 64,
    };
    const message = { role: "assistant", content: [{ text: sentence }] };
    const whole = { output: { message }, stopReason: "end_turn", usage, metrics: { latencyMs: 1 } };
    return { served: { model, usage: { ...usage, provider: "aws.bedrock" } }, whole, events: [] };
  };
}

function uniqueId(number: number): string {
  return `${Date.now().toString(36)}Played${number.toString().padStart(6, "0")}`;
}
