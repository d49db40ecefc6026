import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ResponseSieve } from "../../../../src/gateway/stream/response-sieve.ts";
import { splitAt } from "../../../helpers/random-splits.ts";
import { runs } from "../../../helpers/runs.ts";

const RUNS = runs(300, 5000);

function sieve(text: string | Buffer, cuts: readonly number[] = []) {
  const reader = new ResponseSieve();
  for (const part of splitAt(Buffer.from(text), cuts)) reader.push(part);
  const { json, droppedTextBytes } = reader.finish();
  return { value: json === "" ? undefined : (JSON.parse(json) as unknown), droppedTextBytes };
}

const FACTS = ["id", "object", "model", "service_tier", "usage", "x_groq", "error", "message", "detail"];
const MESSAGE = ["role", "content", "refusal", "reasoning_content", "reasoning", "tool_calls"];

/** The same, of a value that is read whole. */
function expected(value: unknown): unknown {
  if (!isObject(value)) return value;
  const { choices, ...rest } = value;
  const kept = pick(rest, FACTS);
  if (choices === undefined) return kept;
  return { ...kept, choices: Array.isArray(choices) ? choices.map(expectedChoice) : choices };
}

function expectedChoice(choice: unknown): unknown {
  if (!isObject(choice)) return choice;
  const kept = pick(choice, ["index", "finish_reason", "message", "delta"]);
  for (const member of ["message", "delta"]) {
    if (isObject(kept[member])) kept[member] = pick(kept[member], MESSAGE);
  }
  return kept;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function pick(from: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(from).filter(([name]) => names.includes(name)));
}

const anything = fc.jsonValue({ maxDepth: 3 });
const some = (names: readonly string[], values: fc.Arbitrary<unknown>) =>
  fc.dictionary(fc.constantFrom(...names), fc.oneof(values, anything), { noNullPrototype: true });
const anyMessage = some([...MESSAGE, "audio", "x"], fc.string({ unit: "binary" }));
const anyChoice = some(["index", "finish_reason", "message", "delta", "logprobs", "token_ids"], anyMessage);
const anyAnswer = some(
  [...FACTS, "choices", "prompt_token_ids", "created"],
  fc.array(anyChoice, { maxLength: 4 }),
);

/** JSON as other writers write it: spaces, and escapes where none are needed. */
function written(value: unknown, style: number): string {
  const json = JSON.stringify(value, undefined, style % 3);
  return style < 3
    ? json
    : json.replaceAll(/"(id|usage|model|choices|content)"/g, (key) => key.replace(/[a-z]/, escape));
}

const escape = (letter: string): string => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;

describe("ResponseSieve", () => {
  it("keeps what accounting needs of any JSON, however it is written and split", () => {
    fc.assert(
      fc.property(
        fc.oneof(anyAnswer, anything),
        fc.array(fc.nat(), { maxLength: 20 }),
        fc.nat({ max: 5 }),
        (answer, cuts, style) => {
          fc.pre(isObject(answer));
          expect(sieve(written(answer, style), cuts).value).toEqual(
            JSON.parse(JSON.stringify(expected(answer))),
          );
        },
      ),
      { numRuns: RUNS },
    );
  });

  it("of an answer that is cut keeps what was complete, and never makes anything up", () => {
    fc.assert(
      fc.property(anyAnswer, fc.nat(), (answer, cut) => {
        const bytes = Buffer.from(JSON.stringify(answer));
        const { value } = sieve(bytes.subarray(0, cut % (bytes.length + 1)));
        if (value === undefined) return;
        const whole = expected(answer) as Record<string, unknown>;
        for (const [name, kept] of Object.entries(value as object)) {
          if (name !== "choices") expect(kept).toEqual(JSON.parse(JSON.stringify(whole[name])));
        }
      }),
      { numRuns: RUNS },
    );
  });

  it("survives bytes that are no JSON", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const reader = new ResponseSieve();
        reader.push(Buffer.concat([Buffer.from('{"id":"'), bytes]));
        expect(reader.finish().json).toMatch(/^\{.*\}$/s);
      }),
      { numRuns: RUNS },
    );
  });

  const ids = JSON.stringify(Array.from({ length: 300_000 }, (_, at) => at));
  const usage = '"usage":{"prompt_tokens":7,"prompt_tokens_details":{"cached_tokens":3}}';
  it.each([
    ["before everything", `{${usage},"prompt_token_ids":${ids},"choices":[{"logprobs":${ids}}]}`],
    ["in the middle", `{"prompt_token_ids":${ids},${usage},"choices":[{"logprobs":${ids}}]}`],
    ["behind everything", `{"choices":[{"logprobs":${ids}}],"prompt_token_ids":${ids},${usage}}`],
  ])("finds usage %s, in megabytes of token ids", (_where, json) => {
    const cuts = Array.from({ length: 60 }, (_, at) => at * 65_536);
    expect(sieve(json, cuts).value).toMatchObject({
      usage: { prompt_tokens: 7, prompt_tokens_details: { cached_tokens: 3 } },
    });
  });

  it("keeps text up to a mebibyte, counts what is beyond, and still finds what follows", () => {
    const json = `{"choices":[{"message":{"content":"${"x".repeat(3_000_000)}"},"index":0}],${usage}}`;
    expect(sieve(json)).toMatchObject({
      value: { choices: [{ index: 0 }], usage: { prompt_tokens: 7 } },
      droppedTextBytes: 3_000_002,
    });
  });
});
