import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ChatReader } from "../../../../src/gateway/recording/chat-reader.ts";
import { readBody, readStreamEvent } from "../../../../src/gateway/stream/stream-event.ts";
import { runs } from "../../../helpers/runs.ts";
import { chosenSeed } from "../../../helpers/seeded-random.ts";

type Json = Readonly<Record<string, unknown>>;

function reading(chunks: readonly Json[], { capturesText = true } = {}): ChatReader {
  const reader = new ChatReader({ capturesText });
  for (const chunk of chunks) reader.read(readStreamEvent(JSON.stringify(chunk)));
  return reader;
}

/** A chunk of one choice. */
const chunk = (choice: object, usage?: object | null): Json => ({
  id: "c",
  model: "m",
  choices: [choice],
  ...(usage !== undefined && { usage }),
});
const said = (content: string, usage?: object | null): Json => chunk({ index: 0, delta: { content } }, usage);
const ended = (usage?: object): Json => chunk({ index: 0, delta: {}, finish_reason: "stop" }, usage);
const alone = (usage: object): Json => ({ choices: [], usage });
/** The first choice's message of what is recorded. */
const messageOf = (...deltas: readonly object[]): unknown => {
  const output = reading(deltas.map((delta) => chunk({ index: 0, delta }))).output() as {
    choices: { message: Json }[];
  };
  return output.choices[0]!.message;
};

describe("the recorded output of a stream", () => {
  const made = (name: string, args: string): object => ({ function: { name, arguments: args } });
  it.each([
    [
      "at one index, with different ids",
      [
        { index: 0, id: "x", ...made("f", "{") },
        { index: 0, function: { arguments: "}" } },
        { index: 0, id: "y", ...made("g", "{}") },
      ],
    ],
    [
      "without an index",
      [{ id: "x", ...made("f", "{") }, { function: { arguments: "}" } }, { id: "y", ...made("g", "{}") }],
    ],
    [
      "with names and ids in every chunk",
      [
        { index: 0, id: "x", ...made("f", "{") },
        { index: 1, id: "y", ...made("g", "{") },
        { index: 0, id: "x", ...made("f", "}") },
        { index: 1, id: "y", ...made("g", "}") },
      ],
    ],
  ])("separates the calls of two tools: %s", (_how, pieces) => {
    expect(messageOf(...pieces.map((piece) => ({ tool_calls: [piece] })))).toMatchObject({
      tool_calls: [
        { id: "x", function: { name: "f", arguments: "{}" } },
        { id: "y", function: { name: "g", arguments: "{}" } },
      ],
    });
  });

  it("separates two calls of one tool that only the end of the first one separates", () => {
    const pieces = ['{"a":1}', '{"a":2}'].map((args) => ({ tool_calls: [{ index: 0, ...made("f", args) }] }));
    expect(messageOf(...pieces)).toMatchObject({
      tool_calls: [made("f", '{"a":1}'), made("f", '{"a":2}')],
    });
  });

  it("is the complete message if the last chunk repeats it, as MiniMax does", () => {
    const whole = { role: "assistant", content: "ab", audio_content: "" };
    const reader = reading([
      said("a"),
      said("b"),
      chunk({ index: 0, message: whole, finish_reason: "stop" }),
    ]);
    expect(reader.output()).toMatchObject({ choices: [{ message: whole }] });
    expect(reader.textBytes).toBe(2);
  });

  it("keeps members such as __proto__ and constructor", () => {
    const delta = '{"choices":[{"delta":{"__proto__":{"x":1},"constructor":"c"}}]}';
    const reader = new ChatReader({ capturesText: true });
    for (let n = 0; n < 2; n++) reader.read(readStreamEvent(delta));
    expect(JSON.stringify(reader.output())).toContain('"__proto__":{"x":1},"constructor":"c"');
    expect(({} as Json)["x"]).toBeUndefined();
  });
});

describe("the byte budget of a record", () => {
  const length = (reader: ChatReader): number => JSON.stringify(reader.output()).length;

  it("stops capturing after 1 MiB of text, but counts the rest and keeps the finish reason", () => {
    const reader = reading([...Array.from({ length: 3 }, () => said("x".repeat(600_000))), ended()]);
    expect(reader.textBytes).toBe(1_800_000);
    expect(reader.output()).toMatchObject({ truncated: true, choices: [{ finish_reason: "stop" }] });
    expect(length(reader)).toBeLessThan(1_200_000);
  });

  it.each<[string, (at: number) => object]>([
    [
      "calls",
      (at) => ({ tool_calls: [{ index: at, id: `c${at}`, function: { name: "f", arguments: "" } }] }),
    ],
    ["parts", (at) => ({ content: [{ type: `t${at}` }] })],
    ["members", (at) => ({ [`m${at}`]: "x".repeat(100) })],
    ["members of a member", (at) => ({ vendor: { [`m${at}`]: at } })],
    ["items", (at) => ({ vendor: [at] })],
    ["changing facts", (at) => ({ vendor: "y".repeat(at % 100) })],
  ])("limits %s", (_what, delta) => {
    const reader = reading(Array.from({ length: 20_000 }, (_, at) => chunk({ index: 0, delta: delta(at) })));
    expect(length(reader)).toBeLessThan(2_000_000);
    expect(reader.capturedBytes).toBeLessThan(1_200_000);
  });

  it("reads deeply nested values up to the captured depth", () => {
    const reader = new ChatReader({ capturesText: true });
    for (const json of [
      `{"choices":[],"usage":${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}}`,
      `{"choices":[{"delta":{"x":${"[".repeat(50_000)}${"]".repeat(50_000)}}}]}`,
      `{"choices":[{"message":{"content":${'[{"text":'.repeat(50_000)}1${"}]".repeat(50_000)}}}]}`,
    ]) {
      reader.read(readStreamEvent(json));
    }
    expect(reader.usage({ isComplete: true, promptBytes: 0 })).toEqual({ basis: "none" });
    expect(length(reader)).toBeLessThan(10_000);
  });

  const value = fc.jsonValue({ maxDepth: 3 });
  const some = (values: fc.Arbitrary<unknown>, ...names: readonly string[]): fc.Arbitrary<unknown> =>
    fc.oneof(fc.dictionary(fc.constantFrom(...names), values, { noNullPrototype: true }), value);
  const call = some(some(value, "name", "arguments", "input"), "index", "id", "type", "function", "custom");
  const content = fc.oneof(fc.array(call, { maxLength: 3 }), some(value, "text", "type", "data"), value);
  const message = some(content, "role", "content", "tool_calls", "audio", "reasoning_details", "__proto__");
  const choice = some(message, "index", "delta", "message", "finish_reason", "error", "toString");
  const told = some(value, "prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details");
  const anyChunk = fc.record(
    { id: value, model: value, choices: fc.oneof(fc.array(choice, { maxLength: 3 }), value), usage: told },
    { requiredKeys: [], noNullPrototype: true },
  );

  const RUNS = runs(50, 1000);
  it("never throws, and counts whole tokens only", { timeout: 60_000 + RUNS * 50 }, () => {
    const property = fc.property(fc.array(anyChunk, { maxLength: 6 }), fc.boolean(), (chunks, isBody) => {
      const reader = new ChatReader({ capturesText: true });
      for (const one of chunks) {
        const json = JSON.stringify(one);
        const event = isBody ? readBody(json) : readStreamEvent(json);
        if (event !== undefined) reader.read(event);
      }
      expect(() => JSON.stringify(reader.output())).not.toThrow();
      const counted = reader.usage({ isComplete: true, promptBytes: 40 });
      if (counted.basis === "none") return;
      for (const name of ["prompt_tokens", "completion_tokens", "total_tokens"]) {
        const count = counted.usage[name] ?? 0;
        expect(Number.isSafeInteger(count) && Number(count) >= 0, `${name}: ${JSON.stringify(count)}`).toBe(
          true,
        );
      }
    });
    fc.assert(property, { numRuns: RUNS, seed: chosenSeed() });
  });
});

describe("the usage of a stream", () => {
  const counted = (chunks: readonly Json[], isComplete = true): unknown =>
    reading(chunks).usage({ isComplete, promptBytes: 40 });
  const usage = (prompt_tokens: number, completion_tokens: number): object => ({
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
  });

  it.each<[string, readonly Json[]]>([
    ["in a chunk of its own", [said("abcd"), ended(), alone(usage(5, 9))]],
    ["with the end", [said("abcd"), ended(usage(5, 9))]],
    ["behind a placeholder", [alone(usage(5, 1)), said("abcd"), ended(usage(5, 9))]],
    ["before zeros", [said("abcd"), ended(usage(5, 9)), alone(usage(0, 0))]],
    [
      "in two parts",
      [said("ab", { prompt_tokens: 5 }), ended(), alone({ completion_tokens: 9, total_tokens: 9 })],
    ],
    [
      "as texts",
      [said("ab"), ended(), alone({ prompt_tokens: "5", completion_tokens: "9", total_tokens: "14" })],
    ],
  ])("is exact if the provider reports it %s", (_where, chunks) => {
    expect(counted(chunks)).toEqual({ basis: "exact", usage: usage(5, 9) });
  });

  it.each<[string, readonly Json[], object]>([
    ["after a placeholder, however it ends", [said("", usage(5, 0)), said("abcdefgh"), ended()], usage(5, 2)],
    ["where the prompt is missing", [said("ab"), ended({ completion_tokens: 9 })], usage(10, 9)],
    [
      "where the completion cannot be",
      [said("ab"), ended({ prompt_tokens: 5, completion_tokens: -1 })],
      usage(5, 1),
    ],
  ])("is partial %s", (_when, chunks, expected) => {
    expect(counted(chunks)).toEqual({ basis: "partial", usage: expected });
  });

  it("is the running count of a truncated stream, plus an estimate for the rest", () => {
    const running = [said("abcd", usage(5, 1)), said("efgh", usage(5, 2))];
    expect(counted(running, false)).toEqual({ basis: "partial", usage: usage(5, 2) });
    expect(counted([...running, said("ijkl")], false)).toEqual({ basis: "partial", usage: usage(5, 3) });
  });

  it("adds the running counts of several choices, which are separate", () => {
    const chunks = [0, 1, 0, 1].map((index, at) => chunk({ index, delta: {} }, usage(5, [1, 1, 2, 3][at]!)));
    expect(counted(chunks, false)).toEqual({ basis: "partial", usage: usage(5, 5) });
    expect(counted([...chunks, alone(usage(5, 6))])).toEqual({ basis: "exact", usage: usage(5, 6) });
  });

  it.each<[string, object]>([
    ["nothing", {}],
    ["zeros", usage(0, 0)],
    ["no numbers", { prompt_tokens: "many", completion_tokens: true, total_tokens: [] }],
    ["parts of tokens", usage(1.5, 2.5)],
    ["negative numbers", usage(-5, -9)],
    ["numbers that no double counts to", usage(2 ** 53, 1e300)],
    ["a total alone", { total_tokens: 9 }],
  ])("is not read from %s", (_what, told) => {
    expect(counted([said("ab"), ended(), alone(told)])).toEqual({ basis: "none" });
  });

  it("keeps other counts of the provider, without invalid numbers", () => {
    const more = { cost: 0.002, prompt_tokens_details: { cached_tokens: 3, audio_tokens: 1e30 } };
    expect(counted([said("ab"), ended(), alone({ ...usage(5, 9), ...more })])).toEqual({
      basis: "exact",
      usage: { ...usage(5, 9), cost: 0.002, prompt_tokens_details: { cached_tokens: 3 } },
    });
  });

  it("is read although another count is NaN, as Python writes it", () => {
    const reader = new ChatReader({ capturesText: true });
    reader.read(
      readStreamEvent(
        '{"choices":[{"delta":{"content":"NaN"},"score":-Infinity}],"usage":{"prompt_tokens":5,"completion_tokens":NaN}}',
      ),
    );
    expect(reader.output()).toMatchObject({ choices: [{ message: { content: "NaN" } }] });
    expect(reader.usage({ isComplete: true, promptBytes: 40 })).toEqual({
      basis: "partial",
      usage: usage(5, 1),
    });
  });

  it("is exact in a body that is truncated after it", () => {
    const reader = new ChatReader({ capturesText: false });
    reader.read(readBody(JSON.stringify({ usage: usage(5, 9), choices: [{ message: { content: "ab" } }] }))!);
    expect(reader.usage({ isComplete: false, promptBytes: 40 })).toEqual({
      basis: "exact",
      usage: usage(5, 9),
    });
  });
});
