import { describe, expect, it } from "vitest";
import { MODEL, TOKENS, WRAPPERS } from "../../../src/otlp/attribute-rows.ts";
import { isWrapper, usageOfSpan } from "../../../src/otlp/usage-of-span.ts";

const attributes = (record: Record<string, unknown>) => new Map(Object.entries(record));
const usage = (record: Record<string, unknown>) => usageOfSpan(attributes(record), false);

const TOKEN_ROWS = Object.entries(TOKENS).flatMap(([count, row]) => row.map((key) => [key, count] as const));

describe("usageOfSpan", () => {
  it.each(TOKEN_ROWS)("reads %s as %s, whatever it is written as", (key, count) => {
    for (const seven of [7, "7", 7.0, " 7 "]) {
      expect(usage({ [key]: seven })).toEqual({ usage: { requests: 1, [count]: 7 } });
    }
    for (const nothing of [-7, "seven", "", Number.NaN, Number.POSITIVE_INFINITY, true, null, [7], {}]) {
      expect(usage({ [key]: nothing })).toBeUndefined();
    }
  });

  it.each(Object.entries(TOKENS))(
    "takes the first of %s that is present, and never adds two",
    (count, row) => {
      const all = Object.fromEntries(row.map((key, index) => [key, index + 1]));
      expect(usage(all)?.["usage"]?.[count]).toBe(1);
      expect(usage({ ...all, [row[0]]: -1 })?.["usage"]?.[count]).toBe(row.length > 1 ? 2 : undefined);
      expect(usage({ ...all, [row[0]]: 0 })?.["usage"]?.[count]).toBe(0);
    },
  );

  it.each(MODEL)("counts under the model of %s", (key) => {
    expect(usage({ [key]: "gpt-4o", "gen_ai.usage.input_tokens": 1 })).toEqual({
      "gpt-4o": { requests: 1, prompt_tokens: 1 },
    });
  });

  it("prefers the model that answered", () => {
    const both = { "gen_ai.request.model": "asked", "gen_ai.response.model": "answered" };
    expect(Object.keys(usage({ ...both, "gen_ai.usage.input_tokens": 1 })!)).toEqual(["answered"]);
  });

  it("is nothing without tokens, and no request for a wrapper", () => {
    expect(usage({ "gen_ai.request.model": "gpt-4o" })).toBeUndefined();
    const wrapper = usageOfSpan(attributes({ "gen_ai.usage.input_tokens": 4 }), true);
    expect(wrapper).toEqual({ usage: { prompt_tokens: 4 } });
  });
});

describe("isWrapper", () => {
  const rows = WRAPPERS.flatMap(({ attribute, values }) =>
    [...values].map((value) => [attribute, value] as const),
  );

  it.each(rows)("is true for %s = %s", (attribute, value) => {
    expect(isWrapper("some span", attributes({ [attribute]: value }))).toBe(true);
  });

  it("is true for an outer span of the AI SDK by its name alone", () => {
    expect(isWrapper("ai.streamText", attributes({}))).toBe(true);
  });

  it.each([
    ["chat gpt-4o", { "gen_ai.operation.name": "chat" }],
    ["execute_tool", { "gen_ai.operation.name": "execute_tool" }],
    ["ai.generateText.doGenerate", { "ai.operationId": "ai.generateText.doGenerate" }],
    ["ai.streamText", { "ai.operationId": "ai.streamText.doStream" }],
    ["ai.toolCall", { "ai.operationId": "ai.toolCall" }],
    ["llm", { "openinference.span.kind": "LLM" }],
    ["tool", { "openinference.span.kind": "TOOL" }],
    ["joke.workflow", { "traceloop.span.kind": "workflow" }],
  ])("is false for %s with %o", (name, record) => {
    expect(isWrapper(name, attributes(record))).toBe(false);
  });
});
