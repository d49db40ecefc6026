import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeUsage, type Usage } from "../../../../src/calls/usage.ts";
import { LlmNames } from "../../../../src/rollup/table/llm-names.ts";
import { parseUsageColumn } from "../../../../src/rollup/table/parse-usage-column.ts";
import { COUNT_SLOTS, UsageEntries } from "../../../../src/rollup/table/usage-entries.ts";

const count = fc.maxSafeNat();
const usage: fc.Arbitrary<Usage> = fc.record({
  llm: fc.oneof(
    fc.constantFrom("gpt-4o", 'with "quotes"', "back\\slash", "é😀", "", "a,b]["),
    fc.string({ unit: "binary" }),
  ),
  requests: count,
  promptTokens: count,
  completionTokens: count,
  totalTokens: count,
  cacheReadTokens: count,
  cacheCreationTokens: count,
  cacheOutsidePrompt: fc.boolean(),
});

describe("parseUsageColumn", () => {
  it("reads from bytes what was encoded", () => {
    fc.assert(
      fc.property(fc.array(usage, { maxLength: 5 }), fc.string(), (usages, before) => {
        const column = Buffer.from(encodeUsage(usages));
        const source = Buffer.concat([Buffer.from(before), column, Buffer.from("after")]);
        const start = Buffer.byteLength(before);
        const names = new LlmNames();
        const entries = new UsageEntries();
        parseUsageColumn(source, { start, end: start + column.length }, { names, entries });
        const read = usages.map((_, entry) => [
          names.nameOf(entries.llms[entry]!),
          ...entries.counts.subarray(entry * COUNT_SLOTS, (entry + 1) * COUNT_SLOTS),
          entries.cacheOutsidePrompt[entry] === 1,
        ]);
        expect(entries.length).toBe(usages.length);
        expect(read).toEqual(
          usages.map((one) => [
            one.llm,
            one.requests,
            one.promptTokens,
            one.completionTokens,
            one.totalTokens,
            one.cacheReadTokens,
            one.cacheCreationTokens,
            one.cacheOutsidePrompt,
          ]),
        );
      }),
      { numRuns: 2000 },
    );
  });
});
