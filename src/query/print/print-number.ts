import { countIndexSteps, isJsonBoolean, readJsonNumber, type JsonColumn } from "../fields/json-path.ts";
import { join, sql, type Sql } from "../sql.ts";
import type { CompareOperator } from "../read/ast.ts";

/** A value within a JSON column. */
export interface JsonPlace {
  readonly column: JsonColumn;
  readonly steps: readonly string[];
}

export const comparisons = {
  $eq: { sql: sql`=`, holds: (left, right) => left === right },
  $gt: { sql: sql`>`, holds: (left, right) => left > right },
  $lt: { sql: sql`<`, holds: (left, right) => left < right },
  $gte: { sql: sql`>=`, holds: (left, right) => left >= right },
  $lte: { sql: sql`<=`, holds: (left, right) => left <= right },
} as const satisfies Record<
  CompareOperator,
  { readonly sql: Sql; readonly holds: (left: number, right: number) => boolean }
>;

/** Whether a place has a number that can be compared so: each step that looks like an index would double the SQL. */
export function canCompareNumber({ steps }: JsonPlace): boolean {
  return steps.length > 0 && countIndexSteps(steps) === 0;
}

/**
 * Whether the number at a place compares so with a constant: true, or else false or unknown. Reading the number itself
 * takes a third less time than reading a text and that as a number, but it takes booleans for 1 and 0: where the
 * comparison holds for these, their type is looked at.
 */
export function printNumberComparison(
  { column, steps }: JsonPlace,
  operator: CompareOperator,
  constant: { readonly value: number; readonly sql: Sql },
): Sql {
  const { sql: symbol, holds } = comparisons[operator];
  const number = readJsonNumber(column, steps);
  const compared = sql`ifNotFinite(${number}, NULL) ${symbol} ${constant.sql}`;
  const ofBooleans = [sql`0`, sql`1`].filter((_, value) => holds(value, constant.value));
  if (ofBooleans.length === 0) return sql`(${compared})`;
  return sql`(${compared} AND NOT (${number} IN (${join(ofBooleans, ", ")}) AND ${isJsonBoolean(column, steps)}))`;
}
