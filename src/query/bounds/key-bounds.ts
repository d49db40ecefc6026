import { type Column, columns } from "../fields/columns.ts";
import { timeRangeOf, type TimeRange } from "./time-range.ts";
import type { Condition, Value } from "../read/typed.ts";

/** Bounds on the sorting key of `calls` that a query implies for every selected call. */
export interface KeyBounds extends TimeRange {
  /** The only traces or calls that can be selected; undefined if the query names none. */
  readonly traceIds: readonly string[] | undefined;
  readonly callIds: readonly string[] | undefined;
}

/** Intersects the bounds of conditions joined by AND. */
export function keyBoundsOf(conjuncts: readonly Condition[]): KeyBounds {
  return {
    ...timeRangeOf(conjuncts),
    traceIds: idsOf(columns.get("trace_id")!, conjuncts),
    callIds: idsOf(columns.get("id")!, conjuncts),
  };
}

/** Each of the lists would be correct. This is the shortest. */
function idsOf(column: Column, conjuncts: readonly Condition[]): readonly string[] | undefined {
  const lists = conjuncts.flatMap((conjunct) => {
    const ids = idsOfCondition(column, conjunct);
    return ids === undefined ? [] : [ids];
  });
  return lists.toSorted((a, b) => a.length - b.length)[0];
}

function idsOfCondition(column: Column, condition: Condition): readonly string[] | undefined {
  if (condition.kind === "and") return idsOf(column, condition.conditions);
  if (condition.kind === "or") {
    const lists = condition.conditions.map((one) => idsOfCondition(column, one));
    return lists.every((ids) => ids !== undefined) ? [...new Set(lists.flat())] : undefined;
  }
  if (condition.kind === "one_of" && condition.context === "text" && isColumn(condition.value, column)) {
    const ids = condition.constants.map(textOf);
    return ids.every((id) => id !== undefined) ? ids : undefined;
  }
  if (condition.kind !== "compare" || condition.operator !== "$eq" || condition.context !== "text")
    return undefined;
  const { left, right } = condition;
  const id = isColumn(left, column) ? textOf(right) : isColumn(right, column) ? textOf(left) : undefined;
  return id === undefined ? undefined : [id];
}

function isColumn(value: Value, column: Column): boolean {
  return value.kind === "column" && value.column === column;
}

function textOf(value: Value): string | undefined {
  return value.kind === "constant" && value.type === "string" ? value.value : undefined;
}
