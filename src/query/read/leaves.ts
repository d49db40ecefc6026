import { assertNever } from "../../shared/assert-never.ts";
import type { Condition, Value } from "./typed.ts";

/** A value that contains no other values. */
export type Leaf = Exclude<Value, { kind: "convert" | "condition" }>;

/** All leaves of a condition. */
export function leavesOfCondition(condition: Condition): readonly Leaf[] {
  switch (condition.kind) {
    case "and":
    case "or":
      return condition.conditions.flatMap(leavesOfCondition);
    case "not":
    case "any_feedback":
      return leavesOfCondition(condition.condition);
    case "with":
      return [...leavesOf(condition.value), ...leavesOfCondition(condition.condition)];
    case "absent":
    case "truth":
    case "one_of":
      return leavesOf(condition.value);
    case "compare":
      return [condition.left, condition.right].flatMap(leavesOf);
    case "contains":
      return [condition.input, condition.substr].flatMap(leavesOf);
    case "never":
    case "unknown":
      return [];
    default:
      return assertNever(condition);
  }
}

export function leavesOf(value: Value): readonly Leaf[] {
  switch (value.kind) {
    case "convert":
      return leavesOf(value.input);
    case "condition":
      return leavesOfCondition(value.condition);
    case "null":
    case "constant":
    case "column":
    case "path":
    case "feedback":
    case "bound":
      return [value];
    default:
      return assertNever(value);
  }
}

/** Whether it reads a large column of `calls`. */
export function readsPayload(condition: Condition): boolean {
  return leavesOfCondition(condition).some((leaf) => "column" in leaf && leaf.column.payload);
}
