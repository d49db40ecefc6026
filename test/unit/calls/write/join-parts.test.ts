import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CallPart } from "../../../../src/calls/parts/call-part.ts";
import { joinParts } from "../../../../src/calls/write/join-parts.ts";
import { keyText } from "../../../../src/calls/place/place-lookup.ts";
import type { Placed } from "../../../../src/calls/place/place-parts.ts";
import type { Project } from "../../../../src/shared/project.ts";

const columns = fc.dictionary(
  fc.constantFrom("op_name", "inputs", "output", "usage", "renamed_to"),
  fc.oneof(fc.constant(""), fc.string({ maxLength: 3 }), fc.nat(3)),
  { noNullPrototype: true },
);
const placed = fc
  .record({
    project: fc.constantFrom("a/b" as Project, "a/c" as Project),
    id: fc.constantFrom("1", "2", "3"),
    place: fc.option(fc.record({ traceId: fc.constantFrom("t", "u"), hour: fc.constantFrom(4, 5) }), {
      nil: undefined,
    }),
    columns,
  })
  .map(({ project, id, place, columns: said }): Placed => {
    const part: CallPart = { id, kind: "end", traceId: undefined, hour: undefined, columns: said };
    return {
      project,
      part,
      since: undefined,
      call: keyText({ project, id }),
      placedUnder: undefined,
      traceId: place?.traceId,
      hour: place?.hour,
    };
  });

/** As the store folds rows: of each key and column, the last value. */
function folded(rows: readonly object[]): Map<string, object> {
  const byKey = new Map<string, object>();
  for (const row of rows) {
    const { project_id, hour, trace_id, id } = row as Record<string, unknown>;
    const key = JSON.stringify([project_id, hour, trace_id, id]);
    byKey.set(key, { ...byKey.get(key), ...row });
  }
  return byKey;
}

describe("parts that come together", () => {
  it("are the rows that the store would make of them", () => {
    fc.assert(
      fc.property(fc.array(placed, { maxLength: 30 }), (items) => {
        const alone = items.flatMap((item) => joinParts([item]));
        const known = items.filter((item) => item.traceId !== undefined);
        expect(alone).toHaveLength(known.length);
        const joined = joinParts(items);
        expect(folded(joined)).toEqual(folded(alone));
        expect(joined.length).toBeLessThanOrEqual(alone.length);
      }),
      { numRuns: 500 },
    );
  });

  it("are one row if they are of one call under one key", () => {
    const part = (said: CallPart["columns"]): Placed => ({
      project: "a/b" as Project,
      part: { id: "1", kind: "end", traceId: undefined, hour: undefined, columns: said },
      since: undefined,
      call: "1",
      placedUnder: undefined,
      traceId: "t",
      hour: 4,
    });
    expect(joinParts([part({ op_name: "op", inputs: "{}" }), part({ usage: "[]", inputs: "" })])).toEqual([
      { project_id: "a/b", hour: 4, trace_id: "t", id: "1", op_name: "op", inputs: "", usage: "[]" },
    ]);
  });
});
