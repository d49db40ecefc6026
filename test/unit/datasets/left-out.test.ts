import { describe, expect, it } from "vitest";
import { CHAT_REASONS } from "../../../src/datasets/chat/left-out.ts";
import { readExample, type RecordedCall } from "../../../src/datasets/chat/read-example.ts";

type Json = Readonly<Record<string, unknown>>;
interface Sent {
  readonly inputs?: unknown;
  readonly output?: unknown;
  readonly attributes?: Json;
  readonly call?: Partial<RecordedCall>;
}

const question = { role: "user", content: "Where?" };
const asked = { messages: [question] };
const choice = (message: unknown, more: Json = {}) => ({ choices: [{ index: 0, message, ...more }] });
const answer = choice({ role: "assistant", content: "Here." });
const gateway = { sumtree: { source: "gateway" } };
const history = (...messages: readonly unknown[]) => ({ messages: [question, ...messages, question] });
const toolCall = { id: "c", type: "function", function: { name: "find", arguments: "{}" } };

function recorded({ inputs = asked, output = answer, attributes = {}, call = {} }: Sent): RecordedCall {
  return {
    op_name: "openai.chat.completions.create",
    ended_at: "2026-01-01 00:00:00",
    exception: "",
    inputs: JSON.stringify(inputs),
    output: output === undefined ? "" : JSON.stringify(output),
    attributes: JSON.stringify(attributes),
    ...call,
  };
}

/** Calls by the reason why they are no example. */
const CALLS: Readonly<Record<string, Readonly<Record<string, Sent>>>> = {
  not_a_chat: {
    embeddings: { inputs: { model: "e", input: "text" }, output: { data: [{ embedding: [1] }], model: "e" } },
    "a text completion": { inputs: { prompt: "Once" }, output: { choices: [{ text: "upon" }] } },
    "a text completion of messages": { output: { choices: [{ text: "upon" }] } },
    "a function": { inputs: { a: 1 }, output: 2 },
    "a function of a text": { inputs: { input: "text" }, output: "text" },
    "messages without an answer's form": { output: { rows: 3 } },
    "messages that are numbers": { inputs: { messages: [1] } },
    "no messages": { inputs: { messages: [] } },
    nothing: { call: { inputs: "", output: "", attributes: "" } },
  },
  unfinished: {
    "a call": { call: { ended_at: "" } },
    "a response in the background": { output: { status: "queued", output: [] } },
    "a response": { output: { status: "in_progress", output: [] } },
  },
  failed: {
    "a call": { call: { exception: "boom" } },
    "a response": { output: { status: "failed", output: [] } },
    "a cancelled response": { output: { status: "cancelled", output: [] } },
  },
  no_answer: {
    nothing: { output: null },
    "no choices": { output: { choices: [] } },
    "a choice without message": { output: { choices: [{ index: 0, finish_reason: "stop" }] } },
    "an empty text": { output: choice({ role: "assistant", content: "" }) },
    "thoughts alone": { output: { role: "assistant", content: [{ type: "thinking", thinking: "hm" }] } },
    "a blocked prompt": { output: { candidates: [{ finishReason: "SAFETY" }] } },
    "usage alone": { output: { model: "m", usage: {} } },
    "no messages of a span": { output: [] },
  },
  content_not_recorded: {
    "the gateway, without content": { inputs: { model: "m" }, attributes: gateway },
    "a span, without content": {
      inputs: {},
      attributes: { gen_ai: { operation: { name: "chat" } } },
    },
    "a span of OpenInference, without content": {
      inputs: {},
      attributes: { openinference: { span: { kind: "LLM" } } },
    },
    "messages that are an object": { inputs: { messages: "weave:///acme/a/object/prompt:1" } },
    "a message that is an object": { inputs: { messages: ["weave:///acme/a/object/prompt:1"] } },
    "content that is an object": {
      inputs: { messages: [{ role: "user", content: "weave:///acme/a/object/x:1" }] },
    },
    "an answer that is an object": { output: "weave:///acme/a/object/x:1" },
    "a stream without its tool calls": {
      output: choice({ role: "assistant", content: "" }, { finish_reason: "tool_calls" }),
    },
    "a stream that mixes answers": { inputs: { ...asked, stream: true, n: 2 } },
    "inputs that were too large": { inputs: { truncated: true } },
  },
  truncated: { "an answer": { output: { truncated: true, id: "c" } } },
  history_elsewhere: {
    "a response before": { inputs: { input: "Where?", previous_response_id: "r" } },
    "a conversation": { inputs: { input: "Where?", conversation: "c" } },
    "a stored prompt": { inputs: { input: "Where?", prompt: { id: "p" } } },
    "a cache": { inputs: { contents: "Where?", cachedContent: "c" } },
    "a cache of an SDK": { inputs: { contents: "Where?", config: { cached_content: "c" } } },
    "an item": { inputs: { input: [{ type: "item_reference", id: "m" }] } },
    "a compacted history": { inputs: { input: [{ type: "compaction" }] } },
  },
  unsupported_content: {
    "a document": { inputs: { messages: [{ role: "user", content: [{ type: "document" }] }] } },
    "a video": { inputs: { messages: [{ role: "user", content: [{ type: "video_url" }] }] } },
    "a number as content": { inputs: { messages: [{ role: "user", content: 3 }] } },
    "a number among parts": { inputs: { messages: [{ role: "user", content: [3] }] } },
    "an unknown role": { inputs: { messages: [{ role: "critic", content: "no" }] } },
    "a spoken answer": { output: choice({ role: "assistant", content: null, audio: { id: "a" } }) },
    "an answer of a user": { output: choice(question) },
    "sound of Gemini": {
      inputs: { contents: [{ parts: [{ inlineData: { mimeType: "audio/wav", data: "AA" } }] }] },
    },
    "a file of Gemini": {
      inputs: { contents: [{ parts: [{ fileData: { mimeType: "text/pdf", fileUri: "u" } }] }] },
    },
    "code that Gemini ran": { inputs: { contents: [{ parts: [{ executableCode: {} }] }] } },
    "contents of Gemini among texts": { inputs: { contents: ["Where?", { parts: [{ text: "a" }] }] } },
    "sound of OpenTelemetry": {
      inputs: history({ role: "user", parts: [{ type: "blob", modality: "audio" }] }),
    },
    "an image of a system": {
      inputs: history({ role: "system", content: [{ type: "image_url", image_url: { url: "u" } }] }),
    },
    "an image of an assistant": {
      inputs: history({ role: "assistant", content: [{ type: "image_url", image_url: { url: "u" } }] }),
    },
    "an image without address": {
      inputs: history({ role: "user", content: [{ type: "image_url", image_url: {} }] }),
    },
    "an image as result of a tool": {
      inputs: history({
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "c", content: [{ type: "image", source: { url: "u" } }] },
        ],
      }),
    },
    "text after a tool call": {
      output: {
        role: "assistant",
        content: [
          { type: "tool_use", id: "c", name: "f", input: {} },
          { type: "text", text: "a" },
        ],
      },
    },
    "a call of a custom tool": {
      output: choice({
        role: "assistant",
        tool_calls: [{ id: "c", type: "custom", custom: { name: "f", input: "" } }],
      }),
    },
    "a search of the provider": { output: { status: "completed", output: [{ type: "web_search_call" }] } },
    "a message without content": { inputs: history({ role: "user", content: null }) },
  },
  unsupported_tools: {
    "a search": { inputs: { ...asked, tools: [{ type: "web_search" }] } },
    "a search of Gemini": { inputs: { contents: "Where?", config: { tools: [{ google_search: {} }] } } },
    "a search of Gemini beside functions": {
      inputs: { contents: "Where?", tools: [{ functionDeclarations: [], googleSearch: {} }] },
    },
    "a custom tool": { inputs: { ...asked, tools: [{ type: "custom", custom: { name: "f" } }] } },
    "servers of MCP": { inputs: { ...asked, mcp_servers: [{ url: "u" }] } },
    "a text": { inputs: { ...asked, tools: "all" } },
    "a list of numbers": { inputs: { ...asked, tools: [1] } },
  },
  unmatched_tool_result: {
    "a result of Gemini": {
      inputs: {
        contents: [{ role: "user", parts: [{ functionResponse: { name: "find", response: {} } }] }],
      },
    },
    "a second result of one call": {
      inputs: history(
        { role: "assistant", tool_calls: [toolCall] },
        ...["one", "two"].map((content) => ({ role: "function", name: "find", content })),
      ),
    },
  },
};

describe("a call that is no example", () => {
  it("has one of the reasons, each of which is tested", () => {
    expect(Object.keys(CALLS).toSorted()).toEqual([...CHAT_REASONS].toSorted());
  });

  for (const [reason, calls] of Object.entries(CALLS))
    it.each(Object.entries(calls))(`is left out as ${reason}: %s`, (_name, sent) => {
      expect(readExample(recorded(sent))).toBe(reason);
    });
});
