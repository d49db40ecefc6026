import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseJson } from "../../../src/shared/json.ts";
import { inputPreview, outputPreview } from "../../../src/traces/previews/previews.ts";
import { chosenSeed } from "../../helpers/seeded-random.ts";

const user = (content: unknown) => ({ role: "user", content });
const assistant = (content: unknown) => ({ role: "assistant", content });
const image = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };
const call = { id: "1", type: "function", function: { name: "weather", arguments: '{"city":"Berlin"}' } };
const result = { type: "tool_result", tool_use_id: "1", content: [{ type: "text", text: "rain" }] };
const langchain = (name: string, content: unknown) => ({
  lc: 1,
  type: "constructor",
  id: ["langchain", name],
  kwargs: { content },
});

describe("the preview of inputs", () => {
  it.each<[string, unknown, string | null]>([
    [
      "the last user message of a chat",
      { model: "gpt-4o", messages: [user("One?"), assistant("One."), user("Two?"), assistant("Two.")] },
      "Two?",
    ],
    [
      "text blocks, joined by a newline",
      { messages: [user([{ type: "text", text: " One?" }, image, { type: "text", text: "Two? " }])] },
      " One?\nTwo? ",
    ],
    [
      "text as it is, whatever it seems to mean",
      { messages: [user("**x** <b>&amp;</b>\n{")] },
      "**x** <b>&amp;</b>\n{",
    ],
    [
      "an earlier message, if the last has no text",
      { messages: [user("Look."), user([image]), user("")] },
      "Look.",
    ],
    [
      "an earlier message, if the last has a tool's result",
      { system: "Be brief.", messages: [user("Weather?"), assistant(null), user([result])] },
      "Weather?",
    ],
    [
      "the system's text, without one of a user",
      { system: "Be brief.", messages: [user([image])] },
      "Be brief.",
    ],
    [
      "the system's first message",
      { messages: [{ role: "system", content: "Be brief." }, user([image])] },
      "Be brief.",
    ],
    ["a tool's result, without any other text", { messages: [assistant(null), user([result])] }, "rain"],
    ["nothing of images alone", { model: "gpt-4o", messages: [user([image])] }, null],
    ["nothing of an empty message", { messages: [user("")] }, null],
    ["a text of Responses", { model: "gpt-5", instructions: "Be brief.", input: "Weather?" }, "Weather?"],
    [
      "items of Responses",
      {
        model: "gpt-5",
        input: [
          user([
            { type: "input_text", text: "Weather?" },
            { type: "input_image", image_url: "data:," },
          ]),
          { type: "function_call", call_id: "1", name: "weather", arguments: "{}" },
          { type: "function_call_output", call_id: "1", output: "rain" },
        ],
      },
      "Weather?",
    ],
    [
      "contents of Gemini",
      {
        contents: [
          {
            role: "user",
            parts: [{ text: "One?" }, { inlineData: { data: "iVBORw0KGgo=" } }, { text: "Two?" }],
          },
          { role: "model", parts: [{ functionCall: { name: "weather", args: { city: "Berlin" } } }] },
          { role: "user", parts: [{ functionResponse: { name: "weather", response: { sky: "rain" } } }] },
        ],
      },
      "One?\nTwo?",
    ],
    ["contents of Gemini without a role", { contents: [{ parts: [{ text: "Weather?" }] }] }, "Weather?"],
    ["a text of Gemini", { model: "gemini", contents: "Weather?" }, "Weather?"],
    [
      "messages of OpenTelemetry",
      { messages: [{ role: "user", parts: [{ type: "text", content: "Weather?" }] }] },
      "Weather?",
    ],
    [
      "messages of OpenInference",
      {
        model: "gpt-4o",
        input: "hi",
        messages: [
          { message: { role: "developer", content: "Be brief." } },
          { message: { role: "user", contents: [{ message_content: { type: "text", text: "Weather?" } }] } },
        ],
      },
      "Weather?",
    ],
    [
      "messages of the AI SDK",
      {
        messages: [
          user([{ type: "text", text: "Weather?" }]),
          assistant([{ type: "tool-call", toolCallId: "1", toolName: "weather", input: { city: "Berlin" } }]),
          {
            role: "tool",
            content: [{ type: "tool-result", toolCallId: "1", output: { type: "text", value: "rain" } }],
          },
        ],
      },
      "Weather?",
    ],
    ["a prompt beside a system's text", { system: "Be brief.", prompt: "Weather?" }, "Weather?"],
    ["a request in `messages`", { messages: { model: "gpt-4o", messages: [user("Weather?")] } }, "Weather?"],
    [
      "a request in `messages`, of Responses",
      { messages: { model: "gpt-4o", input: "Weather?" } },
      "Weather?",
    ],
    [
      "a request in `kwargs`",
      { args: ["x"], kwargs: { model: "gpt-4o", messages: [user("Weather?")] } },
      "Weather?",
    ],
    [
      "LangChain's messages",
      { messages: [[langchain("SystemMessage", "Be brief."), langchain("HumanMessage", "Weather?")]] },
      "Weather?",
    ],
    [
      "messages by type",
      {
        messages: [
          { type: "human", content: "Weather?" },
          { type: "ai", content: "" },
        ],
      },
      "Weather?",
    ],
    ["a plain question", { question: "Weather?" }, "Weather?"],
    [
      "the first text in document order",
      { n: 1, ok: true, deep: { list: [[], "", { a: "One" }] }, b: "Two" },
      "One",
    ],
    ["a list of texts", { messages: ["One", "Two"] }, "One"],
    ["no number, not even one that no double holds", parseJson('{"n":9223372036854775807}'), null],
    ["nothing of no inputs", {}, null],
    ["nothing of null", null, null],
    ["nothing of nothing", undefined, null],
  ])("is %s", (_name, inputs, preview) => {
    expect(inputPreview(inputs)).toBe(preview);
  });
});

describe("the preview of an output", () => {
  it.each<[string, unknown, string | null]>([
    ["a text", " Rain.\n", " Rain.\n"],
    ["nothing of an empty text", "", null],
    [
      "the first choice of a chat",
      { id: "chatcmpl-1", choices: [{ message: assistant("Rain.") }, { message: assistant("Sun.") }] },
      "Rain.",
    ],
    ["a refusal", { choices: [{ message: { ...assistant(null), refusal: "No." } }] }, "No."],
    [
      "nothing of tool calls",
      { id: "1", choices: [{ message: { ...assistant(null), tool_calls: [call] } }] },
      null,
    ],
    ["the text of a completion", { id: "cmpl-1", choices: [{ index: 0, text: "Rain." }] }, "Rain."],
    [
      "content blocks of Anthropic",
      {
        id: "msg_1",
        type: "message",
        ...assistant([
          { type: "thinking", thinking: "hm" },
          { type: "text", text: "Rain" },
          { type: "tool_use", id: "1", name: "weather", input: { city: "Berlin" } },
          { type: "text", text: "today." },
        ]),
      },
      "Rain\ntoday.",
    ],
    ["nothing of no content blocks", { id: "msg_1", ...assistant([]) }, null],
    [
      "the last output item of Responses",
      {
        id: "resp_1",
        output: [
          { type: "message", ...assistant([{ type: "output_text", text: "Wait." }]) },
          { type: "reasoning", summary: [{ type: "summary_text", text: "hm" }] },
          { type: "message", ...assistant([{ type: "output_text", text: "Rain." }]) },
          { type: "function_call", call_id: "1", name: "weather", arguments: "{}" },
        ],
      },
      "Rain.",
    ],
    ["nothing of calls alone", { id: "resp_1", output: [{ type: "function_call", name: "weather" }] }, null],
    ["the text of a cut response", { id: "resp_1", output_text: "Rai" }, "Rai"],
    [
      "the first candidate of Gemini",
      { candidates: [{ content: { parts: [{ thought: true, text: "hm" }, { text: "Rain." }] } }, {}] },
      "Rain.",
    ],
    [
      "messages of OpenTelemetry",
      [{ role: "assistant", finish_reason: "stop", parts: [{ type: "text", content: "Rain." }] }],
      "Rain.",
    ],
    [
      "LangChain's generations",
      { generations: [[{ text: "Rain.", message: langchain("AIMessage", "Rain.") }]] },
      "Rain.",
    ],
    [
      "the last answer of a graph",
      {
        messages: [
          { type: "human", content: "Weather?" },
          { type: "ai", content: "Rain." },
          { type: "ai", content: "" },
        ],
      },
      "Rain.",
    ],
    ["a message of LangChain", langchain("AIMessage", "Rain."), "Rain."],
    ["the text beside reasoning", { reasoning: "hm", text: "Rain." }, "Rain."],
    [
      "content blocks alone",
      [
        { type: "text", text: "Rain" },
        { type: "text", text: "today." },
      ],
      "Rain\ntoday.",
    ],
    ["the first text of an object", { n: 1, answer: { sky: "rain" }, other: "x" }, "rain"],
    ["the first text of a list", [1, ["a"], "b"], "a"],
    ["the first text of rows that have types", [{ n: 1, type: "car" }], "car"],
    ["nothing of numbers", { n: 1, list: [true, null] }, null],
    ["nothing of null", null, null],
  ])("is %s", (_name, output, preview) => {
    expect(outputPreview(output)).toBe(preview);
  });
});

describe("a preview", () => {
  it.each([
    ["", `${"x".repeat(199)}🌦y`, `${"x".repeat(199)}🌦`],
    ["", "🌦".repeat(201), "🌦".repeat(200)],
    ["", "x".repeat(200), "x".repeat(200)],
    ["x", "🌦".repeat(200), `x${"🌦".repeat(199)}`],
  ])("has 200 code points, and no half of one (%#)", (before, text, preview) => {
    expect(outputPreview(before + text)).toBe(preview);
    expect(inputPreview({ messages: [user(before + text)] })).toBe(preview);
    expect(inputPreview({ question: before + text })).toBe(preview);
  });

  it("is read at any depth and length", () => {
    let deep: unknown = "bottom";
    for (let level = 0; level < 200_000; level++)
      deep = level % 2 === 0 ? [deep] : { messages: deep, message: 1 };
    expect([inputPreview(deep), outputPreview(deep)]).toEqual(["bottom", "bottom"]);
    const blocks = Array.from({ length: 500_000 }, () => ({ type: "text", text: "ab" }));
    expect(outputPreview(assistant(blocks))).toBe("ab\n".repeat(67).slice(0, 200));
    const numbers = Array.from({ length: 500_000 }, (_, n) => n);
    expect([inputPreview({ input: numbers, messages: [user("x")] }), outputPreview(numbers)]).toEqual([
      "x",
      null,
    ]);
  });

  it("is null or at most 200 code points of any JSON", () => {
    const isPreview = (text: string | null) =>
      text === null || (text !== "" && Array.from(text).length <= 200);
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.constantFrom("messages", "input", "choices", "content"),
        (value, name) => {
          for (const payload of [
            value,
            { [name]: value },
            { model: "m", [name]: [{ role: "user", content: value }] },
          ]) {
            expect(isPreview(inputPreview(payload)) && isPreview(outputPreview(payload))).toBe(true);
          }
        },
      ),
      { seed: chosenSeed() },
    );
  });
});
