import { assertNever } from "../../shared/assert-never.ts";
import { fromUnixSeconds, readInstant, withinReach, type EpochMicros } from "../../shared/instant.ts";
import type { CompareOperator, Operand, Operation } from "./ast.ts";
import { chooseContext } from "./context.ts";
import type { Issues, Loc } from "../issues.ts";
import { holdsCondition, liftFeedback } from "./lift-feedback.ts";
import { typeOfContext, type Condition, type Constant, type Context, type Value } from "./typed.ts";
import type { ValueType } from "../fields/columns.ts";

const NULL: Value = { kind: "null", type: "json" };

/** Turns nodes into conditions: gives every comparison its context. Errors: added to `issues`. */
export function checkOperation(operation: Operation, issues: Issues): Condition | undefined {
  switch (operation.kind) {
    case "and":
    case "or": {
      const conditions = all(operation.operands.map((operand) => checkTruth(operand, issues)));
      return conditions === undefined ? undefined : { kind: operation.kind, conditions };
    }
    case "not": {
      const condition = checkTruth(operation.operand, issues);
      return condition === undefined ? undefined : { kind: "not", condition };
    }
    case "compare":
      return checkCompare(operation, issues);
    case "in":
      return checkIn(operation, issues);
    case "contains":
      return checkContains(operation, issues);
    default:
      return assertNever(operation);
  }
}

/** An operand used as a condition. */
function checkTruth(operand: Operand, issues: Issues): Condition | undefined {
  const value = checkScalar(operand, issues);
  if (value === undefined) return undefined;
  return value.kind === "condition"
    ? value.condition
    : liftFeedback([value], { kind: "truth", value }, { loc: operand.loc, issues });
}

function checkCompare(
  { operator, left, right, loc }: Extract<Operation, { kind: "compare" }>,
  issues: Issues,
): Condition | undefined {
  const sides = all([checkScalar(left, issues), checkScalar(right, issues)]);
  if (sides === undefined) return undefined;
  const [a, b] = sides as [Value, Value];
  if (operator !== "$eq" && (a.kind === "null" || b.kind === "null")) return { kind: "unknown" };
  const context = chooseContext(a, [b]);
  const typed = all([
    inContext(a, context, { loc: left.loc, issues }),
    inContext(b, context, { loc: right.loc, issues }),
  ]);
  if (typed === undefined) return undefined;
  const [x, y] = typed as [Value, Value];
  const condition = operator === "$eq" ? equal(x, y, context) : range(operator, [x, y], context);
  return liftFeedback(typed, condition, { loc, issues });
}

function range(
  operator: CompareOperator,
  [left, right]: readonly [Value, Value],
  context: Context,
): Condition {
  const bothJson = left.type === "json" && right.type === "json";
  return { kind: "compare", operator, context: bothJson ? "number_or_text" : context, left, right };
}

/** The same as `$eq` with any item of the list, with one context for all items. */
function checkIn(
  { input, list, loc }: Extract<Operation, { kind: "in" }>,
  issues: Issues,
): Condition | undefined {
  const checked = all([input, ...list].map((operand) => checkScalar(operand, issues)));
  if (checked === undefined) return undefined;
  const [value, ...elements] = checked as [Value, ...Value[]];
  const present = elements.filter((element) => element.kind !== "null");
  const context = chooseContext(value, present);
  const read = inContext(value, context, { loc: input.loc, issues });
  const typed = all(
    elements.map((element, index) => inContext(element, context, { loc: list[index]!.loc, issues })),
  );
  if (read === undefined || typed === undefined) return undefined;
  const bound: Value = { kind: "bound", type: read.type };
  const condition: Condition =
    holdsCondition(read) && typed.length > 1
      ? { kind: "with", value: read, condition: anyEqual(bound, typed, context) }
      : anyEqual(read, typed, context);
  return liftFeedback([read, ...typed], condition, { loc, issues });
}

/** Constants of the context's type become one look-up in a set. */
function anyEqual(value: Value, elements: readonly Value[], context: Context): Condition {
  const constants = value.kind === "null" ? [] : elements.filter((element) => isConstantOf(element, context));
  const conditions = elements
    .filter((element) => value.kind === "null" || !isConstantOf(element, context))
    .map((element) => equal(value, element, context));
  if (constants.length > 0) conditions.unshift({ kind: "one_of", context, value, constants });
  return conditions.length === 0 ? { kind: "never" } : { kind: "or", conditions };
}

function equal(left: Value, right: Value, context: Context): Condition {
  if (right.kind === "null") return { kind: "absent", value: left };
  if (left.kind === "null") return { kind: "absent", value: right };
  return { kind: "compare", operator: "$eq", context, left, right };
}

function isConstantOf(value: Value, context: Context): value is Constant {
  return value.kind === "constant" && value.type === typeOfContext[context];
}

function checkContains(
  { input, substr, caseInsensitive, loc }: Extract<Operation, { kind: "contains" }>,
  issues: Issues,
): Condition | undefined {
  const values = all([checkValue(input, issues), checkScalar(substr, issues)]);
  if (values === undefined) return undefined;
  const [text, part] = values as [Value, Value];
  if (part.kind === "null") return { kind: "unknown" };
  const condition: Condition = { kind: "contains", input: text, substr: part, caseInsensitive };
  return liftFeedback(values, condition, { loc, issues });
}

function checkScalar(operand: Operand, issues: Issues): Value | undefined {
  if (operand.kind !== "structure") return checkValue(operand, issues);
  return issues.add(
    operand.loc,
    "scalar_type",
    "A literal object or array cannot be compared, only converted",
  );
}

function checkValue(operand: Operand, issues: Issues): Value | undefined {
  switch (operand.kind) {
    case "literal":
      return constantOf(operand.value);
    case "structure":
      return { kind: "constant", type: "string", value: operand.json };
    case "field":
      return operand.value;
    case "convert": {
      const input = checkValue(operand.input, issues);
      return input && { kind: "convert", type: convertedTypes[operand.to], to: operand.to, input };
    }
    case "and":
    case "or":
    case "not":
    case "compare":
    case "in":
    case "contains": {
      const condition = checkOperation(operand, issues);
      return condition && { kind: "condition", type: "bool", condition };
    }
    default:
      return assertNever(operand);
  }
}

const convertedTypes = {
  double: "number",
  int: "number",
  string: "string",
  bool: "bool",
  exists: "bool",
} as const satisfies Record<Extract<Operand, { kind: "convert" }>["to"], ValueType>;

function constantOf(value: string | number | boolean | null): Value {
  if (typeof value === "string") return { kind: "constant", type: "string", value };
  if (typeof value === "number") return { kind: "constant", type: "number", value };
  return value === null ? NULL : { kind: "constant", type: "bool", value };
}

/** Literal instants are read here, so that impossible ones are rejected. */
function inContext(
  value: Value,
  context: Context,
  { loc, issues }: { loc: Loc; issues: Issues },
): Value | undefined {
  if (context !== "instant" || value.kind !== "constant") return value;
  const micros = microsOf(value);
  if (micros !== undefined) return { kind: "constant", type: "instant", value: withinReach(micros) };
  return issues.add(
    [...loc, "$literal"],
    "datetime_parsing",
    "Input should be an ISO 8601 instant or a number of seconds since 1970, because it is compared with one",
  );
}

function microsOf({ type, value }: Constant): EpochMicros | undefined {
  if (type === "string") return readInstant(value);
  if (type === "number") return fromUnixSeconds(value);
  return type === "instant" ? value : undefined;
}

/** All of them, or undefined if one is missing. */
function all<Item>(items: readonly (Item | undefined)[]): readonly Item[] | undefined {
  return items.every((item): item is Item => item !== undefined) ? items : undefined;
}
