import type { Issues, Loc } from "../issues.ts";
import { leavesOf } from "./leaves.ts";
import type { Condition, Value } from "./typed.ts";

/**
 * A comparison with a feedback field tests each feedback of the call. Feedback is looked up separately from the calls, so the
 * other operands must be the same for all calls: literals.
 */
export function liftFeedback(
  values: readonly Value[],
  condition: Condition,
  { loc, issues }: { loc: Loc; issues: Issues },
): Condition | undefined {
  // What a nested operation reads is already lifted there.
  const leaves = values.flatMap((value) => (holdsCondition(value) ? [] : leavesOf(value)));
  const [feedback, ...others] = leaves.filter((leaf) => leaf.kind === "feedback");
  if (feedback === undefined) return condition;
  const alone = others.length === 0 && leaves.every((leaf) => !("column" in leaf));
  if (alone && !values.some(holdsCondition))
    return { kind: "any_feedback", field: feedback.field, condition };
  return issues.add(loc, "value_error", "A feedback field can be compared with literals only");
}

/** Whether an operation is used as a value. */
export function holdsCondition(value: Value): boolean {
  return value.kind === "condition" || (value.kind === "convert" && holdsCondition(value.input));
}
