import fc from "fast-check";
import { expect, test } from "vitest";
import { NativeReader, type TextRanges } from "../../../../src/store/rows/native-reader.ts";
import { nativeBlock } from "../../../helpers/native-bytes.ts";

const rows = fc.array(
  fc.record({
    text: fc.oneof(fc.string(), fc.string({ unit: "binary", minLength: 100, maxLength: 400 })),
    nullable: fc.option(fc.string()),
    flag: fc.integer({ min: 0, max: 255 }),
    instant: fc.bigInt({ min: -(2n ** 53n), max: 2n ** 53n }),
  }),
  { minLength: 1, maxLength: 20 },
);

function texts(bytes: Buffer, { starts, ends }: TextRanges): string[] {
  return Array.from(starts, (start, row) => bytes.toString("utf8", start, ends[row]));
}

test("columns of several blocks come back as they were, a NULL as an empty string", () => {
  fc.assert(
    fc.property(fc.array(rows, { maxLength: 4 }), (blocks) => {
      const all = blocks.flat();
      const bytes = Buffer.concat(
        blocks.map((some) =>
          nativeBlock([
            { type: "String", values: some.map(({ text }) => text) },
            { type: "Nullable(String)", values: some.map(({ nullable }) => nullable) },
            { type: "UInt8", values: some.map(({ flag }) => flag) },
            { type: "Int64", values: some.map(({ instant }) => instant) },
          ]),
        ),
      );
      const places = (): TextRanges => ({
        starts: new Uint32Array(all.length),
        ends: new Uint32Array(all.length),
      });
      const [text, nullable] = [places(), places()];
      const flags: number[] = [];
      const instants = new Float64Array(all.length);
      const reader = new NativeReader(bytes);
      let first = 0;
      for (let count = reader.nextBlock(); count > 0; count = reader.nextBlock()) {
        reader.strings(text, first);
        reader.nullableStrings(nullable, first);
        flags.push(...reader.uint8s());
        reader.int64s(instants, first);
        first += count;
      }
      const read = texts(bytes, text).map((value, row) => ({
        text: value,
        nullable: texts(bytes, nullable)[row],
        flag: flags[row],
        instant: BigInt(instants[row]!),
      }));
      expect(read).toEqual(all.map((row) => ({ ...row, nullable: row.nullable ?? "" })));
    }),
  );
});

test("refuses a dictionary, which is laid out in another way", () => {
  const reader = new NativeReader(
    Buffer.from("\u0001\u0001\u0001a\u0015LowCardinality(UInt8)\u0001", "latin1"),
  );
  expect(reader.nextBlock()).toBe(1);
  expect(() => reader.uint8s()).toThrow("LowCardinality(UInt8)");
});
