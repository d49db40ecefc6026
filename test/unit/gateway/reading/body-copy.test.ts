import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BodyCopy } from "../../../../src/gateway/reading/body-copy.ts";
import { splitAt } from "../../../helpers/random-splits.ts";
import { chosenSeed } from "../../../helpers/seeded-random.ts";

const MIB = 1024 * 1024;
const TAIL_BYTES = 64 * 1024;

function copyOf(...parts: readonly (string | Buffer)[]): BodyCopy {
  const copy = new BodyCopy();
  for (const part of parts) copy.push(Buffer.from(part));
  return copy;
}

const usage = { prompt_tokens: 7, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 2 } };
const USAGE = `"usage":${JSON.stringify(usage)}`;
const HEAD = '{"id":"chatcmpl-1","object":"chat.completion","model":"m","choices":[{"message":{"content":"';
const CONTENT = "🌲x".repeat(MIB);
const START = `${HEAD}${CONTENT}`;
const NAMES = { id: "chatcmpl-1", model: "m" };

describe("a copy of a body", () => {
  it("is whole up to 4 MiB, and then keeps its end", () => {
    const whole = copyOf("\uFEFF", "x".repeat(4 * MIB - 3));
    expect([whole.isWhole, whole.text().length]).toEqual([true, 4 * MIB - 3]);
    whole.push(Buffer.from("yz"));
    expect(whole.isWhole).toBe(false);
    expect(whole.text()).toBe(`${"x".repeat(TAIL_BYTES - 2)}yz`);
  });

  it("tells usage in the last 64 KiB and the names at its beginning, for any chunks", () => {
    const property = fc.property(
      fc.array(fc.nat(), { maxLength: 60 }),
      fc.nat(TAIL_BYTES - USAGE.length - 10),
      fc.nat(3),
      (cuts, after, odd) => {
        const body = `${START}${"y".repeat(odd)}"}}],${USAGE},"_":"${" ".repeat(after)}"}`;
        const copy = copyOf(...splitAt(Buffer.from(body), cuts));
        expect(copy.facts(1)).toEqual({ ...NAMES, usage });
      },
    );
    fc.assert(property, { seed: chosenSeed(), numRuns: 10 });
  });

  it("never tells another usage, though the true one is elsewhere", () => {
    const property = fc.property(fc.array(fc.nat(), { maxLength: 60 }), fc.nat(MIB / 8), (cuts, after) => {
      const body = `${START}"}}],${USAGE},"_":"${"🌲".repeat(after + TAIL_BYTES)}"}`;
      expect([{ ...NAMES, usage }, undefined]).toContainEqual(
        copyOf(...splitAt(Buffer.from(body), cuts)).facts(1),
      );
      expect(copyOf(body).facts(1)).toBeUndefined();
    });
    fc.assert(property, { seed: chosenSeed(), numRuns: 10 });
  });

  const quoted = JSON.stringify(`{${USAGE.replace("7", "9")}} "usage":{"prompt_tokens":9}`);
  const schema = '"tools":[{"parameters":{"properties":{"usage":{"type":"object","x":{}}}}}]';
  const ends = [
    { what: "usage", end: USAGE, usage },
    { what: "usage with spaces", end: USAGE.replace(":", " : \n"), usage },
    { what: "usage in a string before", end: `"text":${quoted},${USAGE}`, usage },
    { what: "usage in a string after", end: `${USAGE},"text":${quoted}`, usage },
    {
      what: "usage in a string within",
      end: `"usage":{"a":${quoted},"b":1}`,
      usage: { a: JSON.parse(quoted), b: 1 },
    },
    { what: "usage in a schema before", end: `${schema},${USAGE}`, usage },
    { what: "no usage", end: '"usage":null', usage: undefined },
    { what: "half of the usage", end: USAGE.slice(0, -9), usage: undefined },
    {
      what: "brackets in a string of the usage",
      end: `"usage":{"a":"}],{","b":[{}]}`,
      usage: { a: "}],{", b: [{}] },
    },
  ];
  const misleading = [
    { what: "no usage after a schema", end: `${schema},"usage":null`, usage: undefined },
    { what: "usage in the metadata after", end: `${USAGE},"metadata":{"usage":{"prompt_tokens":9}}`, usage },
    {
      what: "usage in the usage",
      end: '"usage":{"a":1,"b":{"usage":{"a":9}}}',
      usage: { a: 1, b: { usage: { a: 9 } } },
    },
  ];
  const tells = ({ end, usage: told }: { readonly end: string; readonly usage: unknown }): void => {
    const facts = copyOf(`${START}"}}],${end}}`).facts(1);
    expect(facts).toEqual(told === undefined ? undefined : { ...NAMES, usage: told });
  };
  it.each([...ends, ...misleading])("tells usage only where it is: $what", tells);

  it("tells nothing of a body that is cut in a string of the usage", () => {
    expect(copyOf(`${START}"}}],"usage":{"prompt_tokens":7,"service":"c`).facts(1)).toBeUndefined();
  });

  const named = [
    {
      what: "an event",
      head: '{"type":"response.completed","response":{"id":"resp_1","model":"m","output":[{"id":"msg_1","type":"message","text":"',
      names: { type: "response.completed", id: "resp_1", model: "m" },
    },
    { what: "a quoted name", head: '{"x":"\\"id\\":\\"9\\"","id":"1","text":"', names: { id: "1" } },
    { what: "no names", head: '{"text":"', names: {} },
  ];
  it.each(named)("tells the names of the response: $what", ({ head, names }) => {
    expect(copyOf(head, CONTENT, CONTENT, `",${USAGE}}`).facts(2)).toEqual({ ...names, usage });
  });
  it("does not tell the names of a part as those of the response", () => {
    const head = '{"choices":[{"message":{"tool_calls":[{"id":"call_1","type":"function"}],"content":"';
    expect(copyOf(head, CONTENT, `"}}],"id":"chatcmpl-1",${USAGE}}`).facts(1)).not.toMatchObject({
      id: "call_1",
    });
  });
});
