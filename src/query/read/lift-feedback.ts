import type { Issues, Loc } from "../issues.ts";
import { leavesOf } from "./leaves.ts";
import type { Condition, Value } from "./typed.ts";

/**
 * A comparison with a feedback field asks each of the call's feedback. Feedback is looked up apart from the calls, so
 * what stands beside the field has to be the same for all of them: literals.
 */
export function liftFeedback(
  values: readonly Value[],
  condition: Condition,
  { loc, issues }: { loc: Loc; issues: Issues },
): Condition | undefined {
  // What a nested operation reads has been lifted there.
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
