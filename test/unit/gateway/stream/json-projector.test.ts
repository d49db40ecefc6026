import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JsonProjector } from "../../../../src/gateway/stream/json-projector.ts";
import { splitAt } from "../../../helpers/random-splits.ts";
import { runs } from "../../../helpers/runs.ts";

const RUNS = runs(150, 2000);

function projector(text: string | Buffer, cuts: readonly number[] = []) {
  const reader = new JsonProjector();
  for (const part of splitAt(Buffer.from(text), cuts)) reader.push(part);
  const { json, ...dropped } = reader.finish();
  return { value: json === "" ? undefined : (JSON.parse(json) as unknown), ...dropped };
}

const UNRECORDED = ["logprobs", "prompt_logprobs", "token_ids", "prompt_token_ids", "obfuscation"];

/** The same, of a value that is read whole. */
function expected(value: unknown): unknown {
  if (!isObject(value)) return value;
  const kept = recorded(value);
  return Array.isArray(kept["choices"]) ? { ...kept, choices: kept["choices"].map(expectedChoice) } : kept;
}

function expectedChoice(choice: unknown): unknown {
  if (!isObject(choice)) return choice;
  const kept = recorded(choice);
  for (const member of ["message", "delta"]) {
    if (!isObject(kept[member])) continue;
    kept[member] = recorded(kept[member]);
    const { audio } = kept[member] as Record<string, unknown>;
    if (isObject(audio)) (kept[member] as Record<string, unknown>)["audio"] = recorded(audio);
  }
  return kept;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function recorded(from: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(from).filter(([name]) => !UNRECORDED.includes(name)));
}

const anything = fc.jsonValue({ maxDepth: 3 });
const some = (names: readonly string[], values: fc.Arbitrary<unknown>) =>
  fc.dictionary(fc.constantFrom(...names), fc.oneof(values, anything), { noNullPrototype: true });
const anyMessage = some(
  ["role", "content", "tool_calls", "audio", "x", "größe 🌲", ...UNRECORDED],
  fc.string({ unit: "binary" }),
);
const anyChoice = some(["index", "finish_reason", "message", "delta", "error", ...UNRECORDED], anyMessage);
const anyAnswer = some(
  ["id", "model", "usage", "error", "choices", "created", "citations", '\u0000"', ...UNRECORDED],
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
  it("keeps the members that accounting needs, for any JSON in any chunks", () => {
    fc.assert(
      fc.property(
        fc.oneof(anyAnswer, anything),
        fc.array(fc.nat(), { maxLength: 20 }),
        fc.nat({ max: 5 }),
        (response, cuts, style) => {
          fc.pre(isObject(response));
          expect(projector(written(response, style), cuts).value).toEqual(
            JSON.parse(JSON.stringify(expected(response))),
          );
        },
      ),
      { numRuns: RUNS },
    );
  });

  it("keeps the complete values of a truncated response, and never invents any", () => {
    fc.assert(
      fc.property(anyAnswer, fc.nat(), (response, cut) => {
        const bytes = Buffer.from(JSON.stringify(response));
        const { value } = projector(bytes.subarray(0, cut % (bytes.length + 1)));
        if (value === undefined) return;
        const whole = expected(response) as Record<string, unknown>;
        for (const [name, kept] of Object.entries(value as object)) {
          if (name !== "choices") expect(kept).toEqual(JSON.parse(JSON.stringify(whole[name])));
        }
      }),
      { numRuns: RUNS },
    );
  });

  it.each(["None", "+1", "undefined", "{x:1}"])("continues after a value that is not JSON: %s", (value) => {
    const json = `{"score":${value},"usage":{"prompt_tokens":7},"created":${value},"id":"c"}`;
    expect(projector(json).value).toEqual({ usage: { prompt_tokens: 7 }, id: "c" });
  });

  it("accepts bytes that are not JSON", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const reader = new JsonProjector();
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
    expect(projector(json, cuts).value).toMatchObject({
      usage: { prompt_tokens: 7, prompt_tokens_details: { cached_tokens: 3 } },
    });
  });

  it("keeps text up to 1 MiB, counts the rest, and finds later members", () => {
    const json = `{"choices":[{"message":{"content":"${"x".repeat(3_000_000)}"},"index":0}],${usage}}`;
    expect(projector(json)).toMatchObject({
      value: { choices: [{ index: 0 }], usage: { prompt_tokens: 7 } },
      droppedTextBytes: 3_000_002,
      isPartial: true,
    });
  });

  it("omits other large values, and reports that; token ids are not reported", () => {
    const large = JSON.stringify("x".repeat(300_000));
    const json = `{"vendor":${large},"token_ids":${large},"choices":[{"message":{"content":"a","images":${large}}}],${usage}}`;
    expect(projector(json)).toMatchObject({
      value: { choices: [{ message: { content: "a" } }], usage: { prompt_tokens: 7 } },
      droppedTextBytes: 0,
      isPartial: true,
    });
    expect(projector(`{"token_ids":${large},${usage}}`)).toMatchObject({ isPartial: false });
  });
});
