import { describe, expect, it } from "vitest";
import { CompletionReader } from "../../../../src/gateway/recording/completion-reader.ts";

const chunk = (choice: object, usage?: object | null) => ({
  id: "c",
  model: "m",
  choices: [choice],
  ...(usage !== undefined && { usage }),
});

describe("CompletionReader", () => {
  it("puts choices together that come interleaved", () => {
    const reader = new CompletionReader({ keepText: true });
    for (const [index, content] of [
      [1, "b1"],
      [0, "a1"],
      [1, "b2"],
      [0, "a2"],
    ] as const) {
      reader.read(chunk({ index, delta: { content } }));
    }
    reader.read(chunk({ index: 0, delta: {}, finish_reason: "stop" }));
    expect(reader.output()).toEqual({
      id: "c",
      model: "m",
      choices: [
        { index: 0, message: { role: "assistant", content: "a1a2" }, finish_reason: "stop" },
        { index: 1, message: { role: "assistant", content: "b1b2" }, finish_reason: null },
      ],
    });
    expect(reader.textBytes).toBe(8);
  });

  it("keeps the calls of several tools apart", () => {
    const reader = new CompletionReader({ keepText: true });
    const call = (index: number, rest: object) =>
      chunk({ index: 0, delta: { tool_calls: [{ index, ...rest }] } });
    reader.read(call(0, { id: "x", type: "function", function: { name: "f", arguments: "" } }));
    reader.read(call(1, { id: "y", function: { name: "g", arguments: "{" } }));
    reader.read(call(0, { function: { arguments: "{}" } }));
    reader.read(call(1, { function: { arguments: "}" } }));
    expect(reader.output()).toMatchObject({
      choices: [
        {
          message: {
            tool_calls: [
              { id: "x", function: { name: "f", arguments: "{}" } },
              { id: "y", function: { name: "g", arguments: "{}" } },
            ],
          },
        },
      ],
    });
  });

  it("takes the chunk without choices for the total", () => {
    const reader = new CompletionReader({ keepText: false });
    reader.read(chunk({ index: 0, delta: {} }, { prompt_tokens: 5, completion_tokens: 1 }));
    reader.read({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 9 } });
    expect(reader.usage(true)).toEqual({ basis: "exact", usage: { prompt_tokens: 5, completion_tokens: 9 } });
  });

  it("takes a count on the last chunk for the total of a finished stream, and for a part of a cut one", () => {
    const reader = new CompletionReader({ keepText: false });
    reader.read(chunk({ index: 0, delta: { content: "a" } }, null));
    reader.read(chunk({ index: 0, delta: {} }, { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }));
    const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
    expect(reader.usage(true)).toEqual({ basis: "exact", usage });
    expect(reader.usage(false)).toEqual({ basis: "partial", usage });
  });

  it("adds up the running counts of several choices, each of which counts for itself", () => {
    const reader = new CompletionReader({ keepText: false });
    for (const [index, completion_tokens] of [
      [0, 1],
      [1, 1],
      [0, 2],
      [1, 3],
    ] as const) {
      reader.read(chunk({ index, delta: {} }, { prompt_tokens: 5, completion_tokens }));
    }
    expect(reader.usage(false)).toEqual({
      basis: "partial",
      usage: { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 },
    });
  });

  it("stops keeping text after a megabyte, but counts on, and says that it stopped", () => {
    const reader = new CompletionReader({ keepText: true });
    for (let n = 0; n < 3; n++) reader.read(chunk({ index: 0, delta: { content: "x".repeat(600_000) } }));
    expect(reader.textBytes).toBe(1_800_000);
    expect(reader.output()).toMatchObject({ truncated: true });
    expect(JSON.stringify(reader.output()).length).toBeLessThan(1_100_000);
  });

  it("reads anything without failing", () => {
    const reader = new CompletionReader({ keepText: true });
    for (const part of [
      {},
      { choices: 1 },
      { choices: [null, 1, {}] },
      { choices: [{ delta: 1 }] },
      { usage: [] },
    ]) {
      reader.read(part);
    }
    const deep = JSON.parse(`${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`) as object;
    reader.read({ choices: [], usage: deep });
    reader.read({ choices: [{ message: { tool_calls: [{ function: 1 }, null] } }] });
    expect(reader.usage(true)).toEqual({ basis: "none" });
  });
});
