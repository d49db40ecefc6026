import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JsonScan } from "../../../src/gateway/json-scan.ts";
import { splitAt } from "../../helpers/random-splits.ts";
import { runs } from "../../helpers/runs.ts";

const NAMES = ["model", "model_id", "config", "é"];
const settings = { numRuns: runs(500, 50_000), seed: 20_260_701 };

function scanned(text: string | Buffer, cuts: readonly number[] = []) {
  const scan = new JsonScan(NAMES);
  for (const part of splitAt(Buffer.from(text), cuts)) scan.push(part);
  return scan.isWhole ? scan.members : undefined;
}

function escaped(text: string, every: number): string {
  const characters = Array.from(text).map((one, at) =>
    at % every === 0 && one.length === 1
      ? `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`
      : JSON.stringify(one).slice(1, -1),
  );
  return `"${characters.join("")}"`;
}

const space = fc.constantFrom("", " ", "\n\t");
const name = fc.oneof(fc.constantFrom(...NAMES), fc.string({ unit: "binary", maxLength: 4 }));
const value = fc.oneof(
  fc.json({ maxDepth: 3, stringUnit: "binary" }),
  fc.constantFrom("1e400", "-0.50", '"}\\\\"'),
);
const member = fc.record({ name, value, space, every: fc.integer({ min: 1, max: 9 }) });
const document = fc.record({ members: fc.array(member, { maxLength: 8 }), cuts: fc.array(fc.nat(400)) });

describe("JsonScan", () => {
  it("reads named members as JSON.parse does, of any chunks; and nothing of what is cut or followed by more", () => {
    fc.assert(
      fc.property(
        document,
        fc.nat(400),
        fc.constantFrom("{}", ",", "]", "x"),
        ({ members, cuts }, cut, more) => {
          const parts = members.map(
            (one) => `${escaped(one.name, one.every)}${one.space}:${one.space}${one.value}`,
          );
          const text = `{${parts.join(` ,\r`)}}`;
          const read = Object.fromEntries(members.map((one) => [one.name, JSON.parse(one.value)]));
          const expected = Object.fromEntries(Object.entries(read).filter(([key]) => NAMES.includes(key)));
          expect(scanned(`\ufeff ${text}\n`, cuts)).toEqual(expected);
          expect(scanned(text.slice(0, cut % text.length), cuts)).toBeUndefined();
          expect(scanned(text + more, cuts)).toBeUndefined();
        },
      ),
      settings,
    );
  });

  it.each([
    "",
    "null",
    "[]",
    '["model"]',
    '"model"',
    "{,}",
    '{"model"}',
    '{"model":}',
    '{"model":1,}',
    '{"a":1 2}',
    '{"a":]}',
    '{"a":tru}',
    '{"a":01}',
    "{a:1}",
    "{'model':1}",
    '{"model":"\\x"}',
    '{"mod\\x":1}',
    '{"a":1"b":2}',
    '{/**/"model":1}',
    '{"model":[}}',
    '{"model":{]}',
    '{"model":"\n"}',
    Buffer.from('{"model":"m"}', "utf16le"),
  ])("does not read %j", (text) => {
    expect(scanned(text)).toBeUndefined();
  });

  it("reads values of at most 64 KiB, and skips others of any length and depth", () => {
    const long = "x".repeat(2 ** 16);
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    expect(scanned(`{"${long}":"${long}","a":${deep},"model":"m"}`, [70_000])).toEqual({ model: "m" });
    expect(scanned(`{"model":"${long.slice(2)}"}`)).toEqual({ model: long.slice(2) });
    expect(scanned(`{"model":"${long}","model":"m"}`, [9])).toBeUndefined();
  });

  it("tells what it has read of an object before its end", () => {
    const scan = new JsonScan(NAMES);
    scan.push(Buffer.from('{"model":"a","model_id":NaN,"config":{"x":"'));
    expect([scan.isWhole, scan.members]).toEqual([false, { model: "a", model_id: null }]);
  });
});
