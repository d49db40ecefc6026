import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileQuery } from "../../../src/query/compile.ts";
import { HOUR_MICROS, hourOf, toIso, toStoreText } from "../../../src/shared/instant.ts";
import type { Project } from "../../../src/shared/project.ts";
import { runs } from "../../helpers/runs.ts";

const project = "acme/x" as Project;
const HOUR = 490_000;
const at = (hour: number, micros = 0): number => (HOUR + hour) * HOUR_MICROS + micros;
const OPERATORS = ["$gt", "$gte", "$lt", "$lte", "$eq"] as const;

/** Instants around the edges of hours. */
const instant = fc
  .tuple(fc.integer({ min: -2, max: 2 }), fc.constantFrom(-1, 0, 1, 1_000_000))
  .map(([hour, micros]) => at(hour, micros));
const condition = fc.record({
  operator: fc.constantFrom(...OPERATORS),
  micros: instant,
  isTurned: fc.boolean(),
  isNumber: fc.boolean(),
});
type Condition = typeof condition extends fc.Arbitrary<infer One> ? One : never;
type Tree =
  | Condition
  | { readonly list: "$and" | "$or"; readonly of: readonly Tree[] }
  | { readonly not: Tree };

/** Conditions on time under any lists and negations. */
const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { depthSize: "small" },
    condition,
    fc.record({
      list: fc.constantFrom("$and", "$or"),
      of: fc.array(tie("tree"), { minLength: 1, maxLength: 3 }),
    }),
    fc.record({ not: tie("tree") }),
  ),
}));

function toExpr(tree: Tree): object {
  if ("not" in tree) return { $not: [toExpr(tree.not)] };
  if ("list" in tree) return { [tree.list]: tree.of.map(toExpr) };
  const { operator, micros, isTurned, isNumber } = tree;
  const constant = { $literal: isNumber ? micros / 1_000_000 : toIso(toStoreText(micros)) };
  const field = { $getField: "started_at" };
  return { [operator]: isTurned ? [constant, field] : [field, constant] };
}

function holds(tree: Tree, startedAt: number): boolean {
  if ("not" in tree) return !holds(tree.not, startedAt);
  if ("list" in tree) {
    const held = tree.of.map((one) => holds(one, startedAt));
    return tree.list === "$and" ? held.every(Boolean) : held.some(Boolean);
  }
  const { operator, micros, isTurned } = tree;
  const [left, right] = isTurned ? [micros, startedAt] : [startedAt, micros];
  if (operator === "$eq") return left === right;
  if (operator === "$gt" || operator === "$gte")
    return left > right || (operator === "$gte" && left === right);
  return left < right || (operator === "$lte" && left === right);
}

function startedOf(conditions: readonly Tree[]) {
  return compileQuery({ $expr: { $and: conditions.map(toExpr) } }, { project }).bounds.started;
}

describe("the hours of a condition on time", () => {
  it("contain every hour in which a matching call can have started", () => {
    fc.assert(
      fc.property(fc.array(condition, { minLength: 1, maxLength: 3 }), instant, (conditions, startedAt) => {
        fc.pre(conditions.every((one) => holds(one, startedAt)));
        const { from, to } = startedOf(conditions)!;
        expect(hourOf(startedAt)).toBeGreaterThanOrEqual(from);
        expect(hourOf(startedAt)).toBeLessThanOrEqual(to);
      }),
      { numRuns: runs(300, 20_000) },
    );
  });

  it("contain every such hour under lists and negations", () => {
    fc.assert(
      fc.property(tree, instant, (one, startedAt) => {
        fc.pre(holds(one, startedAt));
        const { from, to } = startedOf([one]) ?? { from: HOUR - 9, to: HOUR + 9 };
        expect(hourOf(startedAt)).toBeGreaterThanOrEqual(from);
        expect(hourOf(startedAt)).toBeLessThanOrEqual(to);
      }),
      { numRuns: runs(300, 20_000) },
    );
  });
});
