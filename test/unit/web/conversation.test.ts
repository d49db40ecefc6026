import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readConversation } from "../../../web/trace/conversation/read-conversation.ts";
import { chosenSeed } from "../../helpers/seeded-random.ts";

const seed = chosenSeed();

const PNG = "iVBORw0KGgo=";
const args = { city: "Berlin" };

/** One conversation, as it is recorded by different clients: a question with an image, a tool, an answer. */
const formats: Readonly<Record<string, { readonly inputs: object; readonly output: unknown }>> = {
  "OpenAI's chat": {
    inputs: {
      model: "gpt-4o",
      messages: [
        { role: "system", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "text", text: "Weather?" },
            { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
          ],
        },
        {
          role: "assistant",
          content: null,
          tool_calls: [
            { id: "1", type: "function", function: { name: "weather", arguments: JSON.stringify(args) } },
          ],
        },
        { role: "tool", tool_call_id: "1", content: "rain" },
      ],
    },
    output: { choices: [{ message: { role: "assistant", reasoning_content: "hm", content: "Rain." } }] },
  },
  "Anthropic's messages": {
    inputs: {
      model: "claude",
      system: [{ type: "text", text: "Be brief." }],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "Weather?" },
            { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
          ],
        },
        { role: "assistant", content: [{ type: "tool_use", id: "1", name: "weather", input: args }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "1", content: "rain" }] },
      ],
    },
    output: {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "hm" },
        { type: "text", text: "Rain." },
      ],
    },
  },
  "Gemini's contents": {
    inputs: {
      model: "gemini",
      config: { systemInstruction: "Be brief." },
      contents: [
        { role: "user", parts: [{ text: "Weather?" }, { inlineData: { mimeType: "image/png", data: PNG } }] },
        { role: "model", parts: [{ functionCall: { id: "1", name: "weather", args } }] },
        { role: "user", parts: [{ functionResponse: { id: "1", name: "weather", response: "rain" } }] },
      ],
    },
    output: {
      candidates: [{ content: { role: "model", parts: [{ thought: true, text: "hm" }, { text: "Rain." }] } }],
    },
  },
  "OpenAI's responses": {
    inputs: {
      model: "gpt-5",
      instructions: "Be brief.",
      input: [
        {
          role: "user",
          content: [
            { type: "input_text", text: "Weather?" },
            { type: "input_image", image_url: `data:image/png;base64,${PNG}` },
          ],
        },
        { type: "function_call", call_id: "1", name: "weather", arguments: JSON.stringify(args) },
        { type: "function_call_output", call_id: "1", output: "rain" },
      ],
    },
    output: {
      output: [
        { type: "reasoning", summary: [{ type: "summary_text", text: "hm" }] },
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "Rain." }] },
      ],
    },
  },
  "Vercel's messages": {
    inputs: {
      messages: [
        { role: "system", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "text", text: "Weather?" },
            { type: "image", image: PNG, mediaType: "image/png" },
          ],
        },
        {
          role: "assistant",
          content: [{ type: "tool-call", toolCallId: "1", toolName: "weather", input: args }],
        },
        {
          role: "tool",
          content: [
            {
              type: "tool-result",
              toolCallId: "1",
              toolName: "weather",
              output: { type: "text", value: "rain" },
            },
          ],
        },
      ],
    },
    output: { reasoning: "hm", text: "Rain." },
  },
  "LangChain's messages": {
    inputs: {
      messages: [
        [
          {
            lc: 1,
            type: "constructor",
            id: ["langchain", "SystemMessage"],
            kwargs: { content: "Be brief." },
          },
          {
            lc: 1,
            type: "constructor",
            id: ["langchain", "HumanMessage"],
            kwargs: {
              content: [
                { type: "text", text: "Weather?" },
                { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
              ],
            },
          },
          {
            lc: 1,
            type: "constructor",
            id: ["langchain", "AIMessage"],
            kwargs: { content: "", tool_calls: [{ id: "1", name: "weather", args }] },
          },
          {
            lc: 1,
            type: "constructor",
            id: ["langchain", "ToolMessage"],
            kwargs: { content: "rain", tool_call_id: "1" },
          },
        ],
      ],
    },
    output: {
      generations: [
        [
          {
            text: "Rain.",
            message: {
              id: ["langchain", "AIMessage"],
              kwargs: { content: "Rain.", additional_kwargs: { reasoning_content: "hm" } },
            },
          },
        ],
      ],
    },
  },
};

describe("a conversation", () => {
  it.each(Object.entries(formats))("is read from %s", (_name, { inputs, output }) => {
    const parts = readConversation({ inputs, output }).flatMap((message) =>
      message.parts.map((part) => [message.role, part] as const),
    );
    const result = parts.find(([, { kind }]) => kind === "result");
    expect(result?.[1]).toEqual({ kind: "result", id: "1", value: "rain" });
    expect(parts.filter((part) => part !== result)).toEqual([
      ["system", { kind: "text", text: "Be brief." }],
      ["user", { kind: "text", text: "Weather?" }],
      ["user", { kind: "image", type: "image/png", base64: PNG }],
      ["assistant", { kind: "call", id: "1", name: "weather", args }],
      ["assistant", { kind: "reasoning", text: "hm" }],
      ["assistant", { kind: "text", text: "Rain." }],
    ]);
  });

  it("is empty if no model was called", () => {
    expect(readConversation({ inputs: { question: "Where?" }, output: { answer: "Here." } })).toEqual([]);
    expect(readConversation({ inputs: { messages: [1, 2] }, output: "x" })).toEqual([]);
  });

  it("keeps roles that nobody knows, also names of prototypes", () => {
    const messages = ["constructor", "__proto__", "critic"].map((role) => ({ role, content: "Hm." }));
    expect(readConversation({ inputs: { messages }, output: "" }).map(({ role }) => role)).toEqual([
      "constructor",
      "__proto__",
      "critic",
    ]);
  });

  it("never throws, for any JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (inputs, output) => {
        readConversation({ inputs, output, attributes: inputs });
        readConversation({
          inputs: { messages: inputs, input: output, model: "m" },
          output: { choices: output },
        });
      }),
      { seed },
    );
  });
});
