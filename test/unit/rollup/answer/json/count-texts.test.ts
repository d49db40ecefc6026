import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ByteWriter } from "../../../../../src/rollup/answer/bytes/byte-writer.ts";
import { CountTexts } from "../../../../../src/rollup/answer/json/count-texts.ts";
import { LlmNames } from "../../../../../src/rollup/table/llm-names.ts";
import { countFields } from "../../../../../src/usage/count-fields.ts";

const digits = fc.integer({ min: 0, max: 10 }).chain((width) => fc.nat(10 ** width));
const count = fc.oneof(
  { weight: 9, arbitrary: digits },
  fc.constantFrom(2 ** 31 - 1, 2 ** 31, 2 ** 40, 2 ** 53),
);
const llm = fc.constantFrom("gpt-4o", 'a "quoted" name', "modèle 模型", "");
const entry = fc.tuple(llm, fc.tuple(count, count, count, count, count, count));

describe("CountTexts", () => {
  it.each(["", ',"cost":null,"é":1'])("writes what JSON would say, followed by %j", (tail) => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 50 }), (entries) => {
        const names = new LlmNames();
        const texts = new CountTexts(names, tail);
        const writer = new ByteWriter();
        const written = entries.map(([name, counts]) => {
          texts.write(names.numberOf(name), Float64Array.of(0, ...counts), 1, writer);
          return writer.take().toString();
        });
        const expected = entries.map(([name, counts]) => {
          const members = countFields.map(({ wire }, slot) => `"${wire}":${JSON.stringify(counts[slot])}`);
          return `${JSON.stringify(name)}:{${members.join(",")}${tail}`;
        });
        expect(written).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });

  it("writes the same once it keeps no more templates", () => {
    const names = new LlmNames();
    const texts = new CountTexts(names, "");
    const writer = new ByteWriter();
    const write = (number: number): string => {
      texts.write(names.numberOf(`llm-${number}`), Float64Array.of(number, 0, 0, 0, 0, 7), 0, writer);
      return writer.take().toString();
    };
    for (let number = 0; number < 12_000; number++) {
      const text = write(number);
      if (!text.startsWith(`"llm-${number}":{"requests":${number},`)) expect(text).toBe(number);
    }
    expect(write(11_999)).toMatch(/^"llm-11999":\{"requests":11999,.*:7$/);
  });
});
