import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ByteWriter } from "../../../../src/trace-usage/response/bytes/byte-writer.ts";
import { CountTexts } from "../../../../src/trace-usage/response/json/count-texts.ts";
import { LlmDictionary } from "../../../../src/trace-usage/table/llm-dictionary.ts";
import { countFields } from "../../../../src/usage/count-fields.ts";
import { chosenSeed } from "../../../helpers/seeded-random.ts";

const seed = chosenSeed();
/** Numbers of all widths, around powers of ten. */
const whole = fc
  .tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 6 }), fc.constantFrom(-1, 0, 1))
  .chain(([digits, zeros, beside]) =>
    fc.oneof(
      fc.nat(10 ** digits).map((significant) => significant * 10 ** zeros),
      fc.constant(Math.max(0, 10 ** (digits + zeros) + beside)),
    ),
  );

describe("the text of an entry", () => {
  it("formats counts as JSON does, for any previous entries", () => {
    const count = fc.oneof(whole, fc.constantFrom(2 ** 31 - 1, 2 ** 31, 2 ** 53));
    const llm = fc.constantFrom("gpt-4o", 'a "quoted" name', "modèle 模型", "");
    const entry = fc.tuple(llm, fc.tuple(count, count, count, count, count, count));
    const names = new LlmDictionary();
    const writer = new ByteWriter();
    const texts = new CountTexts(names, ',"é":1');
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 50 }), (entries) => {
        for (const [name, counts] of entries) {
          texts.write(names.numberOf(name), Float64Array.of(0, ...counts), 1, writer);
          const said = Object.fromEntries(countFields.map(({ wire }, slot) => [wire, counts[slot]]));
          const expected = `${JSON.stringify(name)}:${JSON.stringify(said).slice(0, -1)},"é":1`;
          expect(writer.take().toString()).toBe(expected);
        }
      }),
      { seed, numRuns: 1000 },
    );
  });

  it("formats dollars with every digit of integer picodollars and no trailing zeros", () => {
    fc.assert(
      fc.property(whole, (picodollars) => {
        const writer = new ByteWriter();
        writer.dollars(picodollars);
        const text = writer.take().toString();
        const [units = "", fraction = ""] = text.split(".");
        expect(BigInt(units + fraction.padEnd(12, "0"))).toBe(BigInt(picodollars));
        expect(text).not.toMatch(/\.$|\.\d*0$|^0\d/);
      }),
      { seed, numRuns: 2000 },
    );
  });
});
