import { assertNever } from "../../shared/assert-never.ts";
import { readInstant } from "../../shared/instant.ts";
import type { CompareOperator, Operand, Operation } from "./ast.ts";
import { chooseContext } from "./context.ts";
import type { Faults, Loc } from "../faults.ts";
import { holdsCondition, liftFeedback } from "./lift-feedback.ts";
import { typeOfContext, type Condition, type Constant, type Context, type Value } from "./typed.ts";
import type { ValueType } from "../fields/columns.ts";

const NULL: Value = { kind: "null", type: "json" };

/** Nodes to conditions: every comparison given its context. Errors: added to `faults`. */
export function checkOperation(operation: Operation, faults: Faults): Condition | undefined {
  switch (operation.kind) {
    case "and":
    case "or": {
      const conditions = all(operation.operands.map((operand) => checkTruth(operand, faults)));
      return conditions === undefined ? undefined : { kind: operation.kind, conditions };
    }
    case "not": {
      const condition = checkTruth(operation.operand, faults);
      return condition === undefined ? undefined : { kind: "not", condition };
    }
    case "compare":
      return checkCompare(operation, faults);
    case "in":
      return checkIn(operation, faults);
    case "contains":
      return checkContains(operation, faults);
    default:
      return assertNever(operation);
  }
}

/** An operand where a condition stands. */
function checkTruth(operand: Operand, faults: Faults): Condition | undefined {
  const value = checkScalar(operand, faults);
  if (value === undefined) return undefined;
  return value.kind === "condition"
    ? value.condition
    : liftFeedback([value], { kind: "truth", value }, { loc: operand.loc, faults });
}

function checkCompare(
  { operator, left, right, loc }: Extract<Operation, { kind: "compare" }>,
  faults: Faults,
): Condition | undefined {
  const sides = all([checkScalar(left, faults), checkScalar(right, faults)]);
  if (sides === undefined) return undefined;
  const [a, b] = sides as [Value, Value];
  if (operator !== "$eq" && (a.kind === "null" || b.kind === "null")) return { kind: "unknown" };
  const context = chooseContext(a, [b]);
  const typed = all([
    inContext(a, context, { loc: left.loc, faults }),
    inContext(b, context, { loc: right.loc, faults }),
  ]);
  if (typed === undefined) return undefined;
  const [x, y] = typed as [Value, Value];
  const condition = operator === "$eq" ? equal(x, y, context) : range(operator, [x, y], context);
  return liftFeedback(typed, condition, { loc, faults });
}

function range(
  operator: CompareOperator,
  [left, right]: readonly [Value, Value],
  context: Context,
): Condition {
  const bothJson = left.type === "json" && right.type === "json";
  return { kind: "compare", operator, context: bothJson ? "number_or_text" : context, left, right };
}

/** The same as `$eq` with any of the list, in one context for all of it. */
function checkIn(
  { input, list, loc }: Extract<Operation, { kind: "in" }>,
  faults: Faults,
): Condition | undefined {
  const checked = all([input, ...list].map((operand) => checkScalar(operand, faults)));
  if (checked === undefined) return undefined;
  const [value, ...elements] = checked as [Value, ...Value[]];
  const present = elements.filter((element) => element.kind !== "null");
  const context = chooseContext(value, present);
  const read = inContext(value, context, { loc: input.loc, faults });
  const typed = all(
    elements.map((element, index) => inContext(element, context, { loc: list[index]!.loc, faults })),
  );
  if (read === undefined || typed === undefined) return undefined;
  const bound: Value = { kind: "bound", type: read.type };
  const condition: Condition =
    holdsCondition(read) && typed.length > 1
      ? { kind: "with", value: read, condition: anyEqual(bound, typed, context) }
      : anyEqual(read, typed, context);
  return liftFeedback([read, ...typed], condition, { loc, faults });
}

/** Constants of the context's own type become one look-up in a set. */
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
  faults: Faults,
): Condition | undefined {
  const values = all([checkValue(input, faults), checkScalar(substr, faults)]);
  if (values === undefined) return undefined;
  const [text, part] = values as [Value, Value];
  if (part.kind === "null") return { kind: "unknown" };
  const condition: Condition = { kind: "contains", input: text, substr: part, caseInsensitive };
  return liftFeedback(values, condition, { loc, faults });
}

function checkScalar(operand: Operand, faults: Faults): Value | undefined {
  if (operand.kind !== "structure") return checkValue(operand, faults);
  return faults.add(
    operand.loc,
    "scalar_type",
    "A literal object or array can not be compared, only converted",
  );
}

function checkValue(operand: Operand, faults: Faults): Value | undefined {
  switch (operand.kind) {
    case "literal":
      return constantOf(operand.value);
    case "structure":
      return { kind: "constant", type: "string", value: operand.json };
    case "field":
      return operand.value;
    case "convert": {
      const input = checkValue(operand.input, faults);
      return input && { kind: "convert", type: convertedTypes[operand.to], to: operand.to, input };
    }
    case "and":
    case "or":
    case "not":
    case "compare":
    case "in":
    case "contains": {
      const condition = checkOperation(operand, faults);
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

/** A date that is written down is read here, so that an impossible one is refused. */
function inContext(
  value: Value,
  context: Context,
  { loc, faults }: { loc: Loc; faults: Faults },
): Value | undefined {
  if (
    context !== "instant" ||
    value.kind !== "constant" ||
    value.type === "number" ||
    value.type === "instant"
  ) {
    return value;
  }
  const micros = value.type === "string" ? readInstant(value.value) : undefined;
  if (micros !== undefined) return { kind: "constant", type: "instant", value: micros };
  return faults.add(
    [...loc, "$literal"],
    "datetime_parsing",
    "Input should be an ISO 8601 instant or a number of seconds since 1970, because it is compared with one",
  );
}

/** All of them, or undefined when one is not there. */
function all<Item>(items: readonly (Item | undefined)[]): readonly Item[] | undefined {
  return items.every((item): item is Item => item !== undefined) ? items : undefined;
}
