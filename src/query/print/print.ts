import { assertNever } from "../../shared/assert-never.ts";
import type { Project } from "../../shared/project.ts";
import type { CompareOperator, ConvertTarget } from "../read/ast.ts";
import { casts, UNKNOWN } from "./casts.ts";
import { readJsonPath } from "../fields/json-path.ts";
import { printAnyFeedback } from "./print-feedback.ts";
import { canCompareNumber, comparisons, printNumberComparison, type JsonPlace } from "./print-number.ts";
import { join, param, sql, type Sql } from "../sql.ts";
import { typeOfContext, type Condition, type Constant, type Context, type Value } from "../read/typed.ts";

export interface PrintScope {
  readonly project: Project;
  /** Source of feedback fields: the columns of a feedback row, or absent values. */
  readonly feedback: "row" | "none";
  /** Whether to distinguish false and unknown, as under `$not`. A selection only needs to know what is true. */
  readonly exact: boolean;
}

/** A condition over the columns of `calls`: 1, 0, or NULL for unknown. */
export function printCondition(condition: Condition, scope: PrintScope): Sql {
  switch (condition.kind) {
    case "and":
    case "or":
      return printList(condition.conditions, condition.kind === "and" ? " AND " : " OR ", scope);
    case "not":
      return sql`(NOT ${printCondition(condition.condition, { ...scope, exact: true })})`;
    case "with": {
      const asked = printCondition(condition.condition, { ...scope, exact: true });
      return sql`arrayMap(bound -> ${asked}, [${printValue(condition.value, scope)}])[1]`;
    }
    case "never":
      return sql`0`;
    case "unknown":
      return UNKNOWN;
    case "absent":
      return casts[condition.value.type].absent(printValue(condition.value, scope));
    case "truth":
      return sql`(${printAs("bool", condition.value, scope)} != 0)`;
    case "compare":
      return printCompare(condition, scope);
    case "one_of": {
      const constants = condition.constants.map((constant) => printAs(condition.context, constant, scope));
      return sql`(${printAs(condition.context, condition.value, scope)} IN (${join(constants, ", ")}))`;
    }
    case "contains":
      return printContains(condition, scope);
    case "any_feedback": {
      const ofRow = printCondition(condition.condition, { ...scope, feedback: "row" });
      const ofNone = printCondition(condition.condition, { ...scope, feedback: "none" });
      return printAnyFeedback({ ...scope, ...condition, ofRow, ofNone });
    }
    default:
      return assertNever(condition);
  }
}

function printList(conditions: readonly Condition[], separator: string, scope: PrintScope): Sql {
  const [only, ...more] = conditions;
  if (only !== undefined && more.length === 0) return printCondition(only, scope);
  return sql`(${join(
    conditions.map((condition) => printCondition(condition, scope)),
    separator,
  )})`;
}

type Of<Kind extends Condition["kind"]> = Extract<Condition, { kind: Kind }>;

function printCompare({ operator, context, left, right }: Of<"compare">, scope: PrintScope): Sql {
  if (context === "number" && !scope.exact) {
    const compared =
      printNumber(operator, left, right, scope) ?? printNumber(swapped[operator], right, left, scope);
    if (compared !== undefined) return compared;
  }
  const compared = (as: Context): Sql =>
    sql`(${printAs(as, left, scope)} ${comparisons[operator].sql} ${printAs(as, right, scope)})`;
  return context === "number_or_text"
    ? sql`ifNull(${compared("number")}, ${compared("text")})`
    : compared(context);
}

const swapped = {
  $eq: "$eq",
  $gt: "$lt",
  $lt: "$gt",
  $gte: "$lte",
  $lte: "$gte",
} as const satisfies Record<CompareOperator, CompareOperator>;

function printNumber(
  operator: CompareOperator,
  value: Value,
  constant: Value,
  scope: PrintScope,
): Sql | undefined {
  const place = placeOf(value, scope);
  if (place === undefined || !canCompareNumber(place)) return undefined;
  if (constant.kind !== "constant" || constant.type !== "number") return undefined;
  return printNumberComparison(place, operator, { value: constant.value, sql: printConstant(constant) });
}

function placeOf(value: Value, { feedback }: PrintScope): JsonPlace | undefined {
  if (value.kind === "path") return { column: value.column, steps: value.steps };
  if (value.kind !== "feedback" || feedback !== "row" || value.field.steps === undefined) return undefined;
  return { column: { sql: sql`payload` }, steps: value.field.steps };
}

function printContains({ input, substr, caseInsensitive }: Of<"contains">, scope: PrintScope): Sql {
  const printText = (value: Value): Sql => {
    const text = printAs("text", value, scope);
    return caseInsensitive ? foldCase(text, isStored(value)) : text;
  };
  const needle = printText(substr);
  // The added '' represents an absent text, in which only an empty needle is found.
  if (input.type === "refs") {
    const ref = caseInsensitive ? foldCase(sql`ref`, true) : sql`ref`;
    return sql`arrayExists(ref -> position(${ref}, ${needle}) > 0, arrayPushBack(${printValue(input, scope)}, ''))`;
  }
  return sql`(position(${printText(input)}, ${needle}) > 0)`;
}

/**
 * Unicode's full case folding. For plain ASCII, which most stored text is, `lower` gives the same result in a third of the
 * time. Other texts are printed once, because a chain of such conditions would grow exponentially.
 */
function foldCase(text: Sql, stored: boolean): Sql {
  return stored
    ? sql`if(isValidASCII(${text}), lower(${text}), caseFoldUTF8(${text}))`
    : sql`caseFoldUTF8(${text})`;
}

function isStored({ kind }: Value): boolean {
  return kind === "column" || kind === "path" || kind === "feedback";
}

function printAs(context: Context, value: Value, scope: PrintScope): Sql {
  if (value.kind === "constant" && value.type === typeOfContext[context]) return printConstant(value);
  return casts[value.type][context](printValue(value, scope));
}

function printValue(value: Value, scope: PrintScope): Sql {
  switch (value.kind) {
    case "null":
      return sql`CAST(NULL AS Nullable(String))`;
    case "constant":
      return printConstant(value);
    case "column":
      return value.type === "json" ? readJsonPath(value.column, []) : value.column.sql;
    case "path":
      return readJsonPath(value.column, value.steps);
    case "feedback":
      if (scope.feedback === "row") return value.field.sql;
      return value.type === "json" ? sql`CAST(NULL AS Nullable(String))` : sql`''`;
    case "convert":
      return printConvert(value.to, value.input, scope);
    case "condition":
      return printCondition(value.condition, { ...scope, exact: true });
    case "bound":
      return sql`bound`;
    default:
      return assertNever(value);
  }
}

/** Numbers are sent as text, because the transports differ in the numbers they accept. */
function printConstant(constant: Constant): Sql {
  switch (constant.type) {
    case "string":
      return sql`${param("String", constant.value)}`;
    case "number":
      return sql`${param("Float64", String(constant.value))}`;
    case "bool":
      return sql`${param("Bool", constant.value)}`;
    case "instant":
      return sql`fromUnixTimestamp64Micro(${param("Int64", String(constant.value))}, 'UTC')`;
    default:
      return assertNever(constant);
  }
}

function printConvert(to: ConvertTarget, input: Value, scope: PrintScope): Sql {
  switch (to) {
    case "double":
      return printAs("number", input, scope);
    case "int":
      return sql`toInt64OrNull(${printAs("text", input, scope)})`;
    case "string":
      return printAs("text", input, scope);
    case "bool":
      return printAs("bool", input, scope);
    case "exists":
      return sql`(NOT ${casts[input.type].absent(printValue(input, scope))})`;
    default:
      return assertNever(to);
  }
}
