import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { COUNT_SLOTS, countsAt } from "../../../../src/usage/count-fields.ts";
import type { Usage } from "../../../../src/usage/usage.ts";
import { encodeUsage } from "../../../../src/usage/usage-column.ts";
import { viewOf } from "../../../../src/shared/buffers.ts";
import { unitCounts } from "../../../models/forests.ts";
import { LlmDictionary } from "../../../../src/trace-usage/table/llm-dictionary.ts";
import { parseUsageColumn } from "../../../../src/trace-usage/table/parse-usage-column.ts";
import { UsageEntries } from "../../../../src/trace-usage/table/usage-entries.ts";

const count = fc.oneof(
  fc.maxSafeNat(),
  fc.constantFrom(999_999_999, 1_000_000_000, 4_294_967_296, 99_999_999_999),
);
const text = fc.oneof(
  fc.constantFrom("gpt-4o", 'with "quotes"', "back\\slash", "é😀", "", "a,b]["),
  fc.string({ unit: "binary" }),
);
const usage: fc.Arbitrary<Usage> = fc
  .record({
    llm: text,
    requests: count,
    promptTokens: count,
    completionTokens: count,
    totalTokens: count,
    cacheReadTokens: count,
    cacheCreationTokens: count,
    cacheOutsidePrompt: fc.boolean(),
    units: fc.option(unitCounts(count), { nil: undefined }),
    service: fc.option(
      fc
        .record({ provider: text, tier: text })
        .filter(({ provider, tier }) => provider !== "" || tier !== ""),
      { nil: undefined },
    ),
  })
  .map(withoutUndefined);

function withoutUndefined(one: Usage): Usage {
  return Object.fromEntries(
    Object.entries(one).filter(([, value]) => value !== undefined),
  ) as unknown as Usage;
}

const NOTHING = {
  requests: 0,
  promptTokens: 0,
  completionTokens: 0,
  totalTokens: 0,
  cacheReadTokens: 0,
  cacheCreationTokens: 0,
  cacheOutsidePrompt: false,
};

describe("parseUsageColumn", () => {
  it("does not mistake an escape in a name for the end of another name", () => {
    const llms = ["a\\", 'a"b', "a", "a\\", 'a"b', "a"];
    const names = new LlmDictionary();
    const entries = new UsageEntries();
    for (const llm of llms) {
      const source = Buffer.from(encodeUsage([{ ...NOTHING, llm }]));
      parseUsageColumn(source, { start: 0, end: source.length }, { view: viewOf(source), names, entries });
    }
    const read = Array.from(entries.llms.subarray(0, entries.length), (llm) => names.textOf(llm));
    expect(read).toEqual(llms);
  });

  it("decodes the encoded usage", () => {
    fc.assert(
      fc.property(fc.array(usage, { maxLength: 5 }), fc.string(), (usages, before) => {
        const column = Buffer.from(encodeUsage(usages));
        const source = Buffer.concat([Buffer.from(before), column, Buffer.from("after")]);
        const start = Buffer.byteLength(before);
        const names = new LlmDictionary();
        const entries = new UsageEntries();
        parseUsageColumn(
          source,
          { start, end: start + column.length },
          { view: viewOf(source), names, entries },
        );
        const read = usages.map((_, entry) => ({
          llm: names.textOf(entries.llms[entry]!),
          ...countsAt(entries.counts, entry * COUNT_SLOTS),
          cacheOutsidePrompt: entries.cacheOutsidePrompt[entry] === 1,
          units: entries.units.get(entry),
          service: names.services.serviceOf(entries.services[entry]!),
        }));
        expect(entries.length).toBe(usages.length);
        expect(read.map(withoutUndefined)).toEqual(usages);
      }),
      { numRuns: 2000 },
    );
  });
});
