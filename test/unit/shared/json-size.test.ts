import fc from "fast-check";
import { expect, it } from "vitest";
import { countValues } from "../../../src/shared/json-size.ts";
import { chosenSeed } from "../../helpers/seeded-random.ts";

/** By what the text becomes. An empty list or object counts as if it had a value, a key with an escape as 32. */
function countOf(value: unknown): number {
  if (typeof value === "number") return /^-?\d{16}/.test(String(value)) ? 8 : 1;
  if (typeof value !== "object" || value === null) return 1;
  const members = Object.entries(value);
  const keys = Array.isArray(value) ? [] : members.map(([key]) => key);
  const ofKeys = keys.reduce((sum, key) => sum + (JSON.stringify(key).includes("\\") ? 32 : 1), 0);
  const ofMembers = members.reduce((sum, [, member]) => sum + countOf(member), 0);
  return 1 + ofKeys + Math.max(1, ofMembers);
}

it("counts the values and keys of a text, up to a maximum", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(4), fc.nat(20), (value, indent, max) => {
      const bytes = Buffer.from(JSON.stringify(value, null, indent));
      expect(countValues(bytes)).toBe(countOf(value));
      expect(countValues(bytes, max) > max).toBe(countOf(value) > max);
      // a text that is cut is counted to its end
      expect(countValues(bytes.subarray(0, max))).toBeLessThanOrEqual(countOf(value) + 7);
    }),
    { seed: chosenSeed(), numRuns: 500 },
  );
});

it("counts more for keys of a very large object, and for deep lists", () => {
  const members = Array.from({ length: 400_000 }, (_, n) => `"${n}":0`);
  expect(countValues(Buffer.from(`{${members.join()}}`))).toBeGreaterThan(3_000_000);
  expect(
    countValues(
      Buffer.from(
        `[${Array(4000)
          .fill(`{${members.slice(0, 100).join()}}`)
          .join()}]`,
      ),
    ),
  ).toBeLessThan(900_000);
  expect(countValues(Buffer.from("[".repeat(256)))).toBeGreaterThan(600);
});

it("finds less than four million in the longest batch of calls, and in a body of the largest size that is numbers", () => {
  const usage = { m: { requests: 1, prompt_tokens: 5, completion_tokens: 1 } };
  const times = { started_at: "2026-01-01T00:00:00Z", ended_at: "2026-01-01T00:00:00Z" };
  const call = {
    project_id: "a/b",
    id: "x",
    trace_id: "t",
    op_name: "o",
    ...times,
    summary: { usage },
    inputs: {},
  };
  for (const list of [
    Array.from({ length: 100_000 }, () => call),
    Array.from({ length: 1_600_000 }, Math.sin),
  ])
    expect(countValues(Buffer.from(JSON.stringify(list)))).toBeLessThan(4_000_000);
});
