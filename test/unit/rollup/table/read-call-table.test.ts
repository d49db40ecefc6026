import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LlmNames } from "../../../../src/rollup/table/llm-names.ts";
import { readCallTable } from "../../../../src/rollup/table/read-call-table.ts";
import { nativeBlock } from "../../../helpers/native-bytes.ts";

interface Row {
  readonly traceId: string;
  readonly id: string;
  readonly parentId: string;
}

/** A few traces whose calls have the same ids; parents above, below, beside or missing. */
const rows: fc.Arbitrary<Row[]> = fc
  .uniqueArray(
    fc.record({ trace: fc.nat(2), number: fc.nat(9), parent: fc.option(fc.nat(11), { nil: undefined }) }),
    { minLength: 1, maxLength: 25, selector: ({ trace, number }) => trace * 100 + number },
  )
  .map((drafts) =>
    drafts.map(({ trace, number, parent }) => ({
      traceId: `trace-${trace}`,
      id: `call-${number}`,
      parentId: parent === undefined ? "" : `call-${parent}`,
    })),
  );

function parentsOf(calls: readonly Row[]): readonly number[] {
  const nothing = calls.map(() => null);
  const bytes = nativeBlock([
    { type: "String", values: calls.map(({ traceId }) => traceId) },
    { type: "String", values: calls.map(({ id }) => id) },
    { type: "Nullable(String)", values: calls.map(({ parentId }) => parentId) },
    { type: "Nullable(String)", values: nothing },
    { type: "Nullable(Int64)", values: nothing },
    { type: "Nullable(UInt8)", values: nothing },
    { type: "Nullable(UInt8)", values: nothing },
    { type: "UInt8", values: calls.map(() => 1) },
    { type: "Int64", values: calls.map(() => 0n) },
    { type: "Nullable(String)", values: nothing },
  ]);
  return [...readCallTable(bytes, undefined, new LlmNames()).parents];
}

describe("readCallTable", () => {
  it("finds each parent in the call's own trace, in whatever order the calls come", () => {
    fc.assert(
      fc.property(rows, (calls) => {
        const expected = calls.map(({ traceId, parentId }) =>
          calls.findIndex((other) => other.traceId === traceId && other.id === parentId),
        );
        expect(parentsOf(calls)).toEqual(expected);
      }),
      { numRuns: 1000 },
    );
  });
});
