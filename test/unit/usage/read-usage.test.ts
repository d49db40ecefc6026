import { describe, expect, it } from "vitest";
import { readUsage } from "../../../src/usage/read-usage.ts";
import { toCount } from "../../../src/usage/to-count.ts";

const of = (entry: unknown) => readUsage({ usage: { m: entry } })[0];

describe("readUsage", () => {
  it.each([
    ["prompt_tokens alone", { prompt_tokens: 5 }, { promptTokens: 5, totalTokens: 5 }],
    [
      "input_tokens alone",
      { input_tokens: 5, output_tokens: 2 },
      { promptTokens: 5, completionTokens: 2, totalTokens: 7 },
    ],
    [
      "both names: the larger, never the sum",
      { prompt_tokens: 5, input_tokens: 7, completion_tokens: 4, output_tokens: 3 },
      { promptTokens: 7, completionTokens: 4 },
    ],
    ["a total of its own", { prompt_tokens: 5, total_tokens: 100 }, { totalTokens: 100 }],
    [
      "a total of 0 beside tokens",
      { prompt_tokens: 5, completion_tokens: 1, total_tokens: 0 },
      { totalTokens: 6 },
    ],
    [
      "cached tokens of OpenAI",
      { prompt_tokens: 9, prompt_tokens_details: { cached_tokens: 4 } },
      { cacheReadTokens: 4, cacheOutsidePrompt: false },
    ],
    [
      "cached tokens of the Responses API",
      { input_tokens: 9, input_tokens_details: { cached_tokens: 4 } },
      { cacheReadTokens: 4, cacheOutsidePrompt: false },
    ],
    [
      "the flat field first",
      { prompt_tokens: 9, cache_read_input_tokens: 2, prompt_tokens_details: { cached_tokens: 4 } },
      { cacheReadTokens: 2 },
    ],
    [
      "Anthropic's raw usage",
      { input_tokens: 3, output_tokens: 1, cache_read_input_tokens: 50, cache_creation_input_tokens: 7 },
      { promptTokens: 3, cacheReadTokens: 50, cacheCreationTokens: 7, cacheOutsidePrompt: true },
    ],
    [
      "numbers in text",
      { prompt_tokens: "12", completion_tokens: " 3.0 " },
      { promptTokens: 12, completionTokens: 3 },
    ],
    [
      "nulls",
      { prompt_tokens: null, input_tokens: 4, total_tokens: null, requests: 1 },
      { promptTokens: 4, totalTokens: 4, requests: 1 },
    ],
  ] as const)("reads %s", (_, entry, expected) => {
    expect(of(entry)).toMatchObject(expected);
  });

  it("drops what used nothing, what is no object, and what is no usage", () => {
    expect(readUsage({ usage: { a: {}, b: { prompt_tokens: 0 }, c: 5, d: null, e: [1], f: "x" } })).toEqual(
      [],
    );
    for (const summary of [undefined, null, 5, [], {}, { usage: null }, { usage: [] }])
      expect(readUsage(summary)).toEqual([]);
  });

  it("takes LLM ids as they stand", () => {
    const ids = ["__proto__", "constructor", "a.b", "", 'x"y', "modèle"];
    const usage = JSON.parse(
      `{${ids.map((id) => `${JSON.stringify(id)}:{"requests":1}`).join(",")}}`,
    ) as object;
    expect(readUsage({ usage }).map((one) => one.llm)).toEqual(ids);
  });
});

describe("toCount", () => {
  it.each([[-1], [Number.NaN], [Infinity], ["-5"], ["0x10"], ["abc"], [""], [true], [{}], [1e21], ["1e30"]])(
    "counts %j as 0",
    (value) => {
      expect(toCount(value)).toBe(0);
    },
  );
});
