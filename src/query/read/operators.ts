import type { CompareOperator, Operand, Operation } from "./ast.ts";
import type { Loc } from "../issues.ts";

export type OperatorName =
  | "$and"
  | "$or"
  | "$not"
  | CompareOperator
  | "$in"
  | "$contains"
  | "$literal"
  | "$getField"
  | "$convert";

/** The form of an operator, and the node it becomes. */
export type OperatorRow =
  | {
      readonly syntax: "operands";
      readonly min: number;
      readonly max: number;
      readonly node: (loc: Loc, operands: readonly Operand[]) => Operation;
    }
  | { readonly syntax: "member_and_list" | "contains_spec" | "convert_spec" | "constant" | "field_name" };

/** Every operator of the language, one row each. */
const table = {
  $and: {
    syntax: "operands",
    min: 1,
    max: Infinity,
    node: (loc, operands) => ({ kind: "and", loc, operands }),
  },
  $or: {
    syntax: "operands",
    min: 1,
    max: Infinity,
    node: (loc, operands) => ({ kind: "or", loc, operands }),
  },
  $not: {
    syntax: "operands",
    min: 1,
    max: 1,
    node: (loc, [operand]) => ({ kind: "not", loc, operand: operand! }),
  },
  $eq: comparison("$eq"),
  $gt: comparison("$gt"),
  $lt: comparison("$lt"),
  $gte: comparison("$gte"),
  $lte: comparison("$lte"),
  $in: { syntax: "member_and_list" },
  $contains: { syntax: "contains_spec" },
  $convert: { syntax: "convert_spec" },
  $literal: { syntax: "constant" },
  $getField: { syntax: "field_name" },
} as const satisfies Record<OperatorName, OperatorRow>;

function comparison(operator: CompareOperator): OperatorRow {
  return {
    syntax: "operands",
    min: 2,
    max: 2,
    node: (loc, [left, right]) => ({ kind: "compare", loc, operator, left: left!, right: right! }),
  };
}

export const operators: ReadonlyMap<string, OperatorRow> = new Map(Object.entries(table));

/** The ten operators that a query may begin with. The others are only operands. */
export function isOperation(row: OperatorRow): boolean {
  return row.syntax === "operands" || row.syntax === "member_and_list" || row.syntax === "contains_spec";
}
