import type { Project } from "../../shared/project.ts";
import { casts } from "./casts.ts";
import type { FeedbackField } from "../fields/feedback-field.ts";
import { join, param, sql, type Sql } from "../sql.ts";
import type { Condition, Value } from "../read/typed.ts";

export interface FeedbackQuery {
  readonly project: Project;
  readonly field: FeedbackField;
  readonly condition: Condition;
  /** The condition for one feedback, and for a call without feedback. */
  readonly ofRow: Sql;
  readonly ofNone: Sql;
  /** Whether to distinguish false and unknown. */
  readonly exact: boolean;
}

/** Whether the condition is true for any feedback of a call, by sets of call ids. */
export function printAnyFeedback(query: FeedbackQuery): Sql {
  const { condition, ofRow, ofNone, exact } = query;
  const ids = (where: Sql): Sql => sql`id IN (${idsOfCalls(query, where)})`;
  const { type, sql: value } = query.field;
  const present = sql`NOT ${casts[type].absent(value)}`;
  const any = ids(present);
  const holds = ids(impliesPresent(condition) ? ofRow : sql`${present} AND ${ofRow}`);
  if (!exact) return mayHoldOfNone(condition) ? sql`(${holds} OR (${ofNone} AND NOT ${any}))` : holds;
  const cases = [sql`${holds}, 1`];
  if (canBeUnknown(condition)) cases.push(sql`${ids(sql`${present} AND isNull(${ofRow})`)}, NULL`);
  return sql`multiIf(${join(cases, ", ")}, ${any}, 0, ${ofNone})`;
}

/** Calls of the project that have feedback of the field's type for which `where` is true. */
function idsOfCalls({ project, field }: FeedbackQuery, where: Sql): Sql {
  const callRef = `weave:///${project}/call/`;
  const idAt = param("UInt32", Buffer.byteLength(callRef) + 1);
  const ofType =
    field.feedbackType === undefined
      ? sql``
      : sql`AND feedback_type = ${param("String", field.feedbackType)}`;
  return sql`SELECT substring(weave_ref, ${idAt}) FROM feedback FINAL
    WHERE project_id = ${param("String", project)} AND deleted = 0 ${ofType}
      AND startsWith(weave_ref, ${param("String", callRef)}) AND ${where}`;
}

/** Text is never unknown: absent text reads as ''. */
function canBeUnknown(condition: Condition): boolean {
  if (condition.kind === "or") return condition.conditions.some(canBeUnknown);
  if (condition.kind === "compare" || condition.kind === "one_of") return condition.context !== "text";
  return condition.kind === "truth" || condition.kind === "unknown";
}

/** Whether it is never true of an absent value; testing for one would read the value a second time. */
function impliesPresent(condition: Condition): boolean {
  return condition.kind === "compare" && condition.context === "number";
}

/** Whether an absent value can make it true, by being absent or as ''. */
function mayHoldOfNone(condition: Condition): boolean {
  if (condition.kind === "or") return condition.conditions.some(mayHoldOfNone);
  if (canBeUnknown(condition)) return false;
  if (condition.kind === "one_of") return condition.constants.some(isEmptyText);
  if (condition.kind === "compare" && condition.operator === "$eq") {
    return ![condition.left, condition.right].some(isNonEmptyText);
  }
  return condition.kind !== "contains" || !isNonEmptyText(condition.substr);
}

function isEmptyText(value: Value): boolean {
  return value.kind === "constant" && value.value === "";
}

function isNonEmptyText(value: Value): boolean {
  return value.kind === "constant" && value.type === "string" && value.value !== "";
}
