import { describe, expect, it } from "vitest";
import { completionIdOf } from "../../../src/calls/completion.ts";

describe("completionIdOf", () => {
  it.each([
    ["a chat completion", { id: "chatcmpl-9", object: "chat.completion", choices: [] }, "chatcmpl-9"],
    ["a message", { id: "msg_9", type: "message", content: [] }, "msg_9"],
    ["a response", { id: "resp_9", output: [] }, "resp_9"],
    ["an answer with an id of another form", { id: "0f7c", model: "mistral-large" }, "0f7c"],
    ["an answer of Gemini", { responseId: "r9", candidates: [] }, "r9"],
    ["what the AI SDK returns", { text: "hi", response: { id: "aitxt-9", modelId: "m" } }, "aitxt-9"],
    ["what the gateway keeps", { id: "local", model: "m", choices: [] }, "local"],
  ])("is the id of %s", (_, output, id) => {
    expect(completionIdOf(output)).toBe(id);
  });

  it.each([
    ["a record of something else", { id: "0f7c-ticket", title: "broken" }],
    ["an answer without an id", { choices: [] }],
    ["an id that is no text", { id: 7, choices: [] }],
    ["an id that is too long", { id: "chatcmpl-".padEnd(300, "x"), choices: [] }],
    ["text", "chatcmpl-9"],
    ["a list", [{ id: "chatcmpl-9", choices: [] }]],
    ["nothing", null],
  ])("is none for %s", (_, output) => {
    expect(completionIdOf(output)).toBe("");
  });
});
