import { describe, expect, it } from "vitest";
import { completionIdOf, isUniqueId } from "../../../../src/calls/events/completion.ts";

const generated = (kwargs: object) => ({ generations: [[{ text: "hi", message: { lc: 1, kwargs } }]] });

describe("completionIdOf", () => {
  it.each([
    ["a chat completion", { id: "chatcmpl-9", object: "chat.completion", choices: [] }, "chatcmpl-9"],
    ["a message", { id: "msg_9", type: "message", content: [] }, "msg_9"],
    ["a response", { id: "resp_9", output: [] }, "resp_9"],
    ["an answer with an id of another form", { id: "0f7c", model: "mistral-large" }, "0f7c"],
    ["an answer of Gemini", { responseId: "r9", candidates: [] }, "r9"],
    ["what the AI SDK returns", { text: "hi", response: { id: "aitxt-9", modelId: "m" } }, "aitxt-9"],
    [
      "the output of LangChain in Python",
      generated({ response_metadata: { id: "chatcmpl-9" }, id: "lc_run-1" }),
      "chatcmpl-9",
    ],
    [
      "the output of LangChain in JavaScript",
      generated({ response_metadata: {}, id: "chatcmpl-9" }),
      "chatcmpl-9",
    ],
    ["what the gateway keeps", { id: "local", model: "m", choices: [] }, "local"],
  ])("returns the id of %s", (_, output, id) => {
    expect(completionIdOf(output)).toBe(id);
  });

  it.each([
    ["a record of something else", { id: "0f7c-ticket", title: "broken" }],
    ["LangChain's own id of a run", generated({ response_metadata: {}, id: "lc_run--0f7c" })],
    ["an answer without a generation", { generations: [[]] }],
    ["an answer without an id", { choices: [] }],
    ["an id that is no text", { id: 7, choices: [] }],
    ["an id that is too long", { id: "chatcmpl-".padEnd(300, "x"), choices: [] }],
    ["text", "chatcmpl-9"],
    ["a list", [{ id: "chatcmpl-9", choices: [] }]],
    ["nothing", null],
  ])("returns none for %s", (_, output) => {
    expect(completionIdOf(output)).toBe("");
  });
});

describe("isUniqueId", () => {
  it.each([
    "chatcmpl-AbC0dEf1GhI2jKl3MnO4pQr5StU6V",
    "chatcmpl-0af7651916cd43dd8448eb211c80319c",
    "msg_01XFDUDYJgAACzvnptvVoYEL",
    "resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b",
    "gen-1767225600-Zt4bD9uVxKq1aWcPsRmE",
    "0f7c2a4e-8b1d-4c3e-9f60-5a7b8c9d0e1f",
    "8tSlaPLoMZ6_nvgPv4Xg6Ag",
  ])("is true for a provider's %s", (id) => {
    expect(isUniqueId(id)).toBe(true);
  });

  it.each([
    ["of a thousand", "chatcmpl-123"],
    ["that is counted", "chatcmpl-1048576"],
    ["that is a time", "chatcmpl-1767225600123"],
    ["that is a word", "chatcmpl-local-server"],
    ["of zeros", "00000000-0000-0000-0000-000000000000"],
    ["of a test", "c1"],
    ["that is empty", ""],
  ])("is false for an id %s, %s", (_, id) => {
    expect(isUniqueId(id)).toBe(false);
  });
});
