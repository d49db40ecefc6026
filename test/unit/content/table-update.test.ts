import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyChanges, type RowChange } from "../../../src/content/table-update.ts";

/** The same, said of what comes before and behind. */
function oracle(before: readonly string[], changes: readonly RowChange[]): readonly string[] | undefined {
  let rows = before;
  for (const change of changes) {
    const at = change.kind === "append" ? rows.length : change.index;
    const behind = change.kind === "pop" ? at + 1 : at;
    if (behind > rows.length) return undefined;
    const between = change.kind === "pop" ? [] : [change.row];
    rows = [...rows.slice(0, at), ...between, ...rows.slice(behind)];
  }
  return rows;
}

const index = fc.nat({ max: 6 });
const row = fc.string({ maxLength: 2 });
const change: fc.Arbitrary<RowChange> = fc.oneof(
  fc.record({ kind: fc.constant("append" as const), row }),
  fc.record({ kind: fc.constant("insert" as const), index, row }),
  fc.record({ kind: fc.constant("pop" as const), index }),
);

describe("changes of a list of rows", () => {
  it("are made one after the other, or none of them", () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 5 }), fc.array(change, { maxLength: 8 }), (before, changes) => {
        const after = applyChanges(before, changes);
        const expected = oracle(before, changes);
        if (expected === undefined) expect(after).toMatchObject({ type: "less_than_equal" });
        else expect(after).toMatchObject({ rows: expected });
      }),
      { seed: 20261122, numRuns: 2000 },
    );
  });

  it("tell of each the row that came or went, and leave the list before as it was", () => {
    const before = ["a", "b"];
    const after = applyChanges(before, [
      { kind: "insert", index: 0, row: "x" },
      { kind: "pop", index: 2 },
      { kind: "append", row: "y" },
    ]);
    expect(after).toEqual({ rows: ["x", "a", "y"], updated: ["x", "b", "y"] });
    expect(before).toEqual(["a", "b"]);
    expect(
      applyChanges(before, [
        { kind: "append", row: "x" },
        { kind: "pop", index: 3 },
      ]),
    ).toMatchObject({
      loc: ["body", "updates", 1, "pop", "index"],
    });
  });
});
