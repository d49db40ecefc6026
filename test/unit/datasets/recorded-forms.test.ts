import { describe, expect, it } from "vitest";
import { readExample, type Example } from "../../../src/datasets/chat/read-example.ts";

type Json = Readonly<Record<string, unknown>>;
interface Sent {
  readonly inputs?: unknown;
  readonly output?: unknown;
  readonly attributes?: Json;
}

const question = { role: "user", content: "Where?" };
const said = { role: "assistant", content: "Here." };
const asked = { messages: [question] };
const choice = (message: unknown, more: Json = {}) => ({ choices: [{ index: 0, message, ...more }] });
const PNG = "data:image/png;base64,AA==";

function exampleOf({ inputs = asked, output = choice(said), attributes = {} }: Sent): Example {
  const example = readExample({
    op_name: "op",
    ended_at: "2026-01-01 00:00:00",
    exception: "",
    inputs: JSON.stringify(inputs),
    output: JSON.stringify(output),
    attributes: JSON.stringify(attributes),
  });
  if (typeof example === "string") throw new Error(example);
  return example;
}

const callOf = (id: string, name: string, args: string) => ({
  id,
  type: "function",
  function: { name, arguments: args },
});

const start = { id: "msg_1", type: "message", role: "assistant", model: "m" };
const answers: readonly (readonly [string, Sent, Json])[] = [
  [
    "a stream of Anthropic that Weave lists delta by delta",
    {
      output: {
        messages: [
          {
            ...start,
            stop_reason: "tool_use",
            content: [
              { type: "thinking", thinking: "" },
              { type: "thinking_delta", thinking: "hm" },
              { type: "signature_delta", signature: "s" },
              { type: "text", text: "" },
              { type: "text_delta", text: "He" },
              { type: "citations_delta", citation: {} },
              { type: "text_delta", text: "re." },
              { type: "tool_use", id: "a", name: "find", input: {} },
              { type: "input_json_delta", partial_json: '{"ci' },
              { type: "input_json_delta", partial_json: 'ty":"Rome"}' },
              { type: "tool_use", id: "b", name: "list", input: {} },
            ],
          },
        ],
      },
    },
    {
      ...said,
      tool_calls: [callOf("a", "find", '{"city":"Rome"}'), callOf("b", "list", "{}")],
    },
  ],
  [
    "a whole message of Anthropic's stream helper, behind its question",
    { output: { messages: [question, { ...start, content: [{ type: "text", text: "Here." }] }] } },
    said,
  ],
  [
    "a stream of Responses that Weave lists",
    {
      output: {
        responses: [
          { status: "in_progress", output: [] },
          {
            status: "completed",
            output: [
              { type: "message", role: "assistant", content: [{ type: "output_text", text: "Here." }] },
            ],
          },
        ],
      },
    },
    said,
  ],
  [
    "a stream of OpenAI's chat that Weave joins",
    { output: choice({ ...said, function_call: null }, { finish_reason: "stop" }) },
    said,
  ],
  [
    "the choice with index 0",
    { output: { choices: [{ index: 1, message: {} }, choice(said).choices[0]] } },
    said,
  ],
  ["a message without role", { output: choice({ content: "Here." }) }, said],
  [
    "a refusal",
    { output: choice({ role: "assistant", content: null, refusal: "No." }) },
    { role: "assistant", content: null, refusal: "No." },
  ],
  [
    "a refusal of Responses",
    {
      output: {
        output: [{ type: "message", role: "assistant", content: [{ type: "refusal", refusal: "No." }] }],
      },
    },
    { role: "assistant", content: null, refusal: "No." },
  ],
  [
    "a call of a function, as once",
    {
      output: choice({ role: "assistant", content: null, function_call: { name: "find", arguments: "{}" } }),
    },
    { role: "assistant", content: null, tool_calls: [callOf("call_0", "find", "{}")] },
  ],
  ["a response whose text came in deltas alone", { output: { output: [], output_text: "Here." } }, said],
  [
    "OpenInference's messages beside a text",
    {
      output: "Here.",
      attributes: { llm: { output_messages: [{ message: said, finish_reason: "stop" }] } },
    },
    said,
  ],
  [
    "a text of the AI SDK",
    { output: "Here.", attributes: { ai: { response: { finishReason: "stop" } } } },
    said,
  ],
];

describe("the answer of a call", () => {
  it.each(answers)("is read from %s", (_name, sent, answer) => {
    expect(exampleOf(sent).answer).toEqual(answer);
  });

  it.each([
    ["stop", "stop"],
    ["end_turn", "stop"],
    ["MAX_TOKENS", "length"],
    ["SAFETY", "content_filter"],
    [undefined, "stop"],
    ["new", "stop"],
  ])("ends by %s as %s", (finish_reason, expected) => {
    expect(exampleOf({ output: choice(said, { finish_reason }) }).finishReason).toBe(expected);
  });

  it("keeps the log probabilities", () => {
    const logprobs = { content: [{ token: "Here", logprob: -0.5, bytes: null, top_logprobs: [] }] };
    expect(exampleOf({ output: choice(said, { logprobs }) }).logprobs).toEqual(logprobs);
  });
});

const text = (content: unknown) => [{ role: "user", content }];
const image = (url: string, more: Json = {}) => [
  { role: "user", content: [{ type: "image_url", image_url: { url, ...more } }] },
];
const ofUser = (...parts: readonly unknown[]) => ({ messages: [{ role: "user", content: parts }] });
const ofGemini = (...parts: readonly unknown[]) => ({ contents: [{ role: "user", parts }] });
const url = "https://pictures.example/a.png";
const called = { role: "assistant", content: null, tool_calls: [callOf("c", "find", "{}")] };
const after = (...messages: readonly unknown[]) => ({ messages: [question, called, ...messages] });
const withResult = (content: unknown) => [question, called, { role: "tool", content, tool_call_id: "c" }];
const aiResult = (result: Json) =>
  after({ role: "tool", content: [{ type: "tool-result", toolCallId: "c", toolName: "find", ...result }] });

const prompts: readonly (readonly [string, Sent, readonly Json[]])[] = [
  ["the request that Weave nests", { inputs: { arg0: asked } }, [question]],
  [
    "the request of a stream helper, behind its result",
    { inputs: { arg0: { result: null }, arg1: asked } },
    [question],
  ],
  ["the request that LangSmith nests", { inputs: { kwargs: asked } }, [question]],
  ["a text for Responses", { inputs: { input: "Where?" } }, text("Where?")],
  ["a text for Gemini", { inputs: { contents: "Where?" } }, text("Where?")],
  ["contents without role", { inputs: { contents: [{ parts: [{ text: "Where?" }] }] } }, text("Where?")],
  ["parts for Gemini", { inputs: { contents: [{ text: "Where?" }] } }, text("Where?")],
  ["one content for Gemini", { inputs: { contents: { parts: [{ text: "Where?" }] } } }, text("Where?")],
  ["a prompt of the AI SDK", { inputs: { prompt: "Where?" }, attributes: { ai: {} } }, text("Where?")],
  [
    "an instruction in Gemini's config",
    { inputs: { contents: "Where?", config: { systemInstruction: "Be short." } } },
    [{ role: "system", content: "Be short." }, question],
  ],
  [
    "names",
    { inputs: { messages: [{ role: "user", name: "ann", content: "Where?" }] } },
    [{ role: "user", content: "Where?", name: "ann" }],
  ],
  [
    "a developer, and the roles of LangChain",
    {
      inputs: {
        messages: [
          { role: "developer", content: "Be short." },
          { role: "human", content: "a" },
          { role: "ai", content: "b" },
          question,
        ],
      },
    },
    [
      { role: "developer", content: "Be short." },
      { role: "user", content: "a" },
      { role: "assistant", content: "b" },
      question,
    ],
  ],
  [
    "an image with detail",
    { inputs: ofUser({ type: "image_url", image_url: { url, detail: "low" } }) },
    image(url, { detail: "low" }),
  ],
  [
    "an image of Responses",
    {
      inputs: {
        input: [{ role: "user", content: [{ type: "input_image", image_url: url, detail: "low" }] }],
      },
    },
    image(url, { detail: "low" }),
  ],
  [
    "an address of Anthropic",
    { inputs: ofUser({ type: "image", source: { type: "url", url } }) },
    image(url),
  ],
  [
    "an image of the AI SDK",
    { inputs: ofUser({ type: "image", image: "AA==", mediaType: "image/png" }) },
    image(PNG),
  ],
  ["an address of the AI SDK", { inputs: ofUser({ type: "image", image: url }) }, image(url)],
  [
    "an address of Gemini",
    { inputs: ofGemini({ fileData: { mimeType: "image/png", fileUri: url } }) },
    image(url),
  ],
  [
    "bytes of Gemini in Python",
    { inputs: ofGemini({ inline_data: { mime_type: "image/png", data: "AA==" } }) },
    image(PNG),
  ],
  [
    "an address of OpenTelemetry",
    { inputs: ofUser({ type: "uri", modality: "image", uri: url }) },
    image(url),
  ],
  [
    "files and sounds of OpenAI as they are",
    {
      inputs: ofUser(
        { type: "file", file: { file_id: "f" } },
        { type: "input_audio", input_audio: { data: "AA" } },
      ),
    },
    [
      {
        role: "user",
        content: [
          { type: "file", file: { file_id: "f" } },
          { type: "input_audio", input_audio: { data: "AA" } },
        ],
      },
    ],
  ],
  ["a result", { inputs: after({ role: "tool", tool_call_id: "c", content: "x" }) }, withResult("x")],
  [
    "a result of a function, as once, by its name",
    { inputs: after({ role: "function", name: "find", content: "x" }) },
    withResult("x"),
  ],
  [
    "a result of several texts",
    {
      inputs: after({
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "c", content: [{ type: "text", text: "x" }] },
          { type: "text", text: "y" },
        ],
      }),
    },
    [...withResult("x"), { role: "user", content: "y" }],
  ],
  [
    "a result without content",
    { inputs: after({ role: "tool", tool_call_id: "c", content: null }) },
    withResult(""),
  ],
  [
    "a typed result of the AI SDK",
    { inputs: aiResult({ output: { type: "text", value: "x" } }) },
    withResult("x"),
  ],
  [
    "an error of the AI SDK",
    { inputs: aiResult({ output: { type: "error-json", value: { a: 1 } } }) },
    withResult('{"a":1}'),
  ],
  [
    "parts of the AI SDK",
    { inputs: aiResult({ output: { type: "content", value: [{ type: "text", text: "x" }] } }) },
    withResult("x"),
  ],
  [
    "an earlier result of the AI SDK",
    { inputs: aiResult({ result: { value: 1 } }) },
    withResult('{"value":1}'),
  ],
];

describe("the messages of a call", () => {
  it.each(prompts)("are read from %s", (_name, sent, messages) => {
    expect(exampleOf(sent).messages).toEqual(messages);
  });
});

const parameters = { type: "object", properties: { type: { type: "string" } } };
const tool = (more: Json) => [{ type: "function", function: { name: "find", ...more } }];
const tools: readonly (readonly [string, Sent, readonly Json[] | undefined])[] = [
  ["none", { inputs: { ...asked, tools: [] } }, undefined],
  [
    "functions, as once",
    { inputs: { ...asked, functions: [{ name: "find", parameters }] } },
    tool({ parameters }),
  ],
  [
    "a strict function of Responses",
    { inputs: { input: "a", tools: [{ type: "function", name: "find", strict: true, parameters }] } },
    tool({ parameters, strict: true }),
  ],
  [
    "a custom tool of Anthropic, which is a function",
    { inputs: { ...asked, tools: [{ type: "custom", name: "find", input_schema: parameters }] } },
    tool({ parameters }),
  ],
  [
    "Gemini, whose types are upper-case at any depth",
    {
      inputs: {
        contents: "a",
        config: {
          tools: [
            {
              function_declarations: [
                {
                  name: "find",
                  parameters: {
                    type: "OBJECT",
                    properties: {
                      type: { type: "ARRAY", items: { anyOf: [{ type: "STRING", enum: ["STRING"] }] } },
                    },
                  },
                },
              ],
            },
          ],
        },
      },
    },
    tool({
      parameters: {
        type: "object",
        properties: { type: { type: "array", items: { anyOf: [{ type: "string", enum: ["STRING"] }] } } },
      },
    }),
  ],
  [
    "Gemini's JSON schema",
    {
      inputs: {
        contents: "a",
        tools: [{ functionDeclarations: [{ name: "find", parametersJsonSchema: parameters }] }],
      },
    },
    tool({ parameters }),
  ],
];

describe("the tools of a call", () => {
  it.each(tools)("are read from %s", (_name, sent, expected) => {
    expect(exampleOf(sent).tools).toEqual(expected);
  });
});
