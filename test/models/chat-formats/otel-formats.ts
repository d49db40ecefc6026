import { chatMessages, openaiChat } from "./api-formats.ts";
import type { Conversation, Said, Tool, Turn } from "./conversation.ts";

type Json = Record<string, unknown>;
/** Attributes of a span. */
export type SpanAttributes = Record<string, string>;

function semanticParts({ text, calls }: Said): Json[] {
  return [
    { type: "reasoning", content: "hm" },
    ...(text === undefined ? [] : [{ type: "text", content: text }]),
    ...calls.map(({ id, name, args }) => ({ type: "tool_call", id, name, arguments: args })),
  ];
}

function semanticMessage(turn: Turn): Json {
  if (turn.by === "assistant") return { role: "assistant", parts: semanticParts(turn) };
  if (turn.by === "tools")
    return {
      role: "tool",
      parts: turn.results.map(({ call, value }) => ({
        type: "tool_call_response",
        id: call.id,
        response: value,
      })),
    };
  const content = turn.image?.split(",")[1];
  const image = { type: "blob", modality: "image", mime_type: "image/png", content };
  const parts = turn.texts.map((text) => ({ type: "text", content: text }));
  return { role: "user", parts: [...parts, ...(content === undefined ? [] : [image])] };
}

/** OpenTelemetry's GenAI conventions of today. */
export function semanticConventions({ system, turns, answer, tools }: Conversation): SpanAttributes {
  const finish_reason = answer.calls.length > 0 ? "tool_call" : "stop";
  return {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "gpt-4o",
    ...(system !== undefined && {
      "gen_ai.system_instructions": JSON.stringify([{ type: "text", content: system }]),
    }),
    "gen_ai.input.messages": JSON.stringify(turns.map(semanticMessage)),
    "gen_ai.output.messages": JSON.stringify([
      { role: "assistant", parts: semanticParts(answer), finish_reason },
    ]),
    ...(tools.length > 0 && {
      "gen_ai.tool.definitions": JSON.stringify(tools.map((tool) => ({ type: "function", ...tool }))),
    }),
  };
}

/** OpenLLMetry's indexed attributes. */
export function openLlmetry(conversation: Conversation): SpanAttributes {
  const { answer, tools } = conversation;
  const all: SpanAttributes = { "llm.request.type": "chat", "gen_ai.request.model": "gpt-4o" };
  const put = (at: string, message: Json): void => {
    for (const [name, value] of Object.entries(message)) {
      if (name === "tool_calls")
        for (const [place, call] of (value as Json[]).entries()) {
          const { name: called, arguments: args } = call["function"] as Json;
          Object.assign(all, {
            [`${at}.tool_calls.${place}.id`]: call["id"],
            [`${at}.tool_calls.${place}.name`]: called,
            [`${at}.tool_calls.${place}.arguments`]: args,
          });
        }
      else if (value !== null)
        all[`${at}.${name}`] = typeof value === "string" ? value : JSON.stringify(value);
    }
  };
  for (const [place, message] of chatMessages(conversation).entries()) put(`gen_ai.prompt.${place}`, message);
  const said = conversationAnswer(answer);
  put("gen_ai.completion.0", { finish_reason: answer.calls.length > 0 ? "tool_calls" : "stop", ...said });
  for (const [place, tool] of tools.entries()) putFunction(all, place, tool);
  return all;
}

function putFunction(all: SpanAttributes, place: number, { name, description, parameters }: Tool): void {
  const at = `llm.request.functions.${place}`;
  Object.assign(all, {
    [`${at}.name`]: name,
    [`${at}.description`]: description,
    [`${at}.parameters`]: JSON.stringify(parameters),
  });
}

function conversationAnswer({ text, calls }: Said): Json {
  return {
    role: "assistant",
    content: text ?? null,
    tool_calls: calls.map(({ id, name, args }) => ({
      id,
      function: { name, arguments: JSON.stringify(args) },
    })),
  };
}

/** OpenInference's nested attributes; without `input.value`, as if it was masked. */
export function openInference(conversation: Conversation): SpanAttributes {
  const { answer, tools } = conversation;
  const all: SpanAttributes = { "openinference.span.kind": "LLM", "llm.model_name": "gpt-4o" };
  const put = (at: string, { content, tool_calls: calls, ...message }: Json): void => {
    for (const [name, value] of Object.entries(message))
      if (typeof value === "string") all[`${at}.message.${name}`] = value;
    if (typeof content === "string") all[`${at}.message.content`] = content;
    for (const [place, part] of (Array.isArray(content) ? (content as Json[]) : []).entries()) {
      const inPart = `${at}.message.contents.${place}.message_content`;
      const image = part["image_url"] as Json | undefined;
      all[`${inPart}.type`] = image === undefined ? "text" : "image";
      if (image === undefined) all[`${inPart}.text`] = part["text"] as string;
      else all[`${inPart}.image.image.url`] = image["url"] as string;
    }
    for (const [place, call] of ((calls ?? []) as Json[]).entries()) {
      const inCall = `${at}.message.tool_calls.${place}.tool_call`;
      const { name, arguments: args } = call["function"] as Json;
      Object.assign(all, {
        [`${inCall}.id`]: call["id"],
        [`${inCall}.function.name`]: name,
        [`${inCall}.function.arguments`]: args,
      });
    }
  };
  for (const [place, message] of chatMessages(conversation).entries())
    put(`llm.input_messages.${place}`, message);
  put("llm.output_messages.0", conversationAnswer(answer));
  for (const [place, tool] of tools.entries())
    all[`llm.tools.${place}.tool.json_schema`] = JSON.stringify({ type: "function", function: tool });
  return all;
}

/** OpenInference with the request and response of OpenAI as text, as its instrumentation sends them. */
export function openInferenceValues(conversation: Conversation): SpanAttributes {
  const { inputs, output } = openaiChat(conversation);
  return {
    ...openInference(conversation),
    "input.value": JSON.stringify(inputs),
    "output.value": JSON.stringify(output),
  };
}

/** The Vercel AI SDK's spans around a request. */
export function aiSdk({ system, turns, answer, tools }: Conversation): SpanAttributes {
  const messages = turns.map((turn): Json => {
    if (turn.by === "assistant")
      return {
        role: "assistant",
        content: [
          { type: "reasoning", text: "hm" },
          ...(turn.text === undefined ? [] : [{ type: "text", text: turn.text }]),
          ...turn.calls.map(({ id, name, args }) => ({
            type: "tool-call",
            toolCallId: id,
            toolName: name,
            input: args,
          })),
        ],
      };
    if (turn.by === "tools")
      return {
        role: "tool",
        content: turn.results.map(({ call, value }) => ({
          type: "tool-result",
          toolCallId: call.id,
          toolName: call.name,
          output: { type: "json", value },
        })),
      };
    const file = { type: "file", mediaType: "image/png", data: turn.image?.split(",")[1] };
    const texts = turn.texts.map((text) => ({ type: "text", text }));
    return { role: "user", content: [...texts, ...(turn.image === undefined ? [] : [file])] };
  });
  const first = system === undefined ? [] : [{ role: "system", content: system }];
  const calls = answer.calls.map(({ id, name, args }) => ({ toolCallId: id, toolName: name, input: args }));
  return {
    "ai.operationId": "ai.generateText.doGenerate",
    "ai.model.id": "gpt-4o",
    "ai.prompt.messages": JSON.stringify([...first, ...messages]),
    "ai.response.text": answer.text ?? "",
    ...(calls.length > 0 && { "ai.response.toolCalls": JSON.stringify(calls) }),
    "ai.response.finishReason": calls.length > 0 ? "tool-calls" : "stop",
    // a list in the span; attributes of these tests are text
    ...(tools.length > 0 && {
      "ai.prompt.tools": JSON.stringify(
        tools.map(({ name, description, parameters }) => ({
          type: "function",
          name,
          description,
          inputSchema: parameters,
        })),
      ),
    }),
  };
}
