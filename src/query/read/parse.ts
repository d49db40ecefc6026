import { assertNever } from "../../shared/assert-never.ts";
import { isJsonObject, stringifyJson } from "../../shared/json.ts";
import { CONVERT_TARGETS, type ConvertTarget, type Operand, type Operation } from "./ast.ts";
import { quote, type Issues, type Loc } from "../issues.ts";
import type { FieldResolver } from "../fields/fields.ts";
import { didYouMean } from "../nearest-names.ts";
import { isOperation, operators, type OperatorRow } from "./operators.ts";
import { checkLength, onlyEntry, parseMembers } from "./shapes.ts";

/** The maximum depth of operations, conversions and structured literals. */
const MAX_DEPTH = 64;
/** The maximum number of operations and operands of a query. */
const MAX_NODES = 1000;

export interface QueryReading {
  readonly fields: FieldResolver;
  readonly issues: Issues;
}

interface Reading extends QueryReading {
  nodes: number;
}

/** The path and depth of a node. */
interface NodeAt {
  readonly loc: Loc;
  readonly depth: number;
}

/**
 * Turns JSON into nodes. Errors: all issues are added; the result must then not be used.
 * Cost: O(MAX_NODES) time and O(MAX_DEPTH) stack for any input.
 */
export function parseQuery(json: unknown, reading: QueryReading): Operation | undefined {
  const { issues } = reading;
  const members = parseMembers(json, ["query"], { required: ["$expr"], optional: [] }, issues);
  if (members === undefined) return undefined;
  const loc = ["query", "$expr"];
  const entry = onlyEntry(members["$expr"], loc, issues);
  if (entry === undefined) return undefined;
  const row = operators.get(entry.name);
  if (row !== undefined && !isOperation(row)) {
    const names = [...operators].filter(([, other]) => isOperation(other)).map(([name]) => name);
    return issues.add(
      [...loc, entry.name],
      "union_tag_invalid",
      `A query is one of ${names.join(", ")}; ${entry.name} is an operand of them`,
    );
  }
  return parseOperand(members["$expr"], { loc, depth: 1 }, { ...reading, nodes: 0 }) as
    | Operation // guaranteed by the row of the operator
    | undefined;
}

function parseOperand(json: unknown, { loc, depth }: NodeAt, reading: Reading): Operand | undefined {
  const { issues } = reading;
  if (reading.nodes >= MAX_NODES) {
    // Reported once. The rest is ignored.
    return reading.nodes++ === MAX_NODES
      ? issues.add(["query", "$expr"], "too_long", `A query has at most ${MAX_NODES} nodes`)
      : undefined;
  }
  reading.nodes++;
  const entry = onlyEntry(json, loc, issues);
  if (entry === undefined) return undefined;
  const row = operators.get(entry.name);
  const at = [...loc, entry.name];
  if (row === undefined) {
    const known = [...operators.keys()];
    const hint = didYouMean(entry.name, known);
    return issues.add(
      at,
      "union_tag_invalid",
      `Unknown operator ${quote(entry.name)}, known are ${known.join(", ")}.${hint}`,
    );
  }
  if (depth > MAX_DEPTH && !isScalar(entry.value)) {
    return issues.add(at, "too_deep", `A query nests at most ${MAX_DEPTH} levels deep`);
  }
  return parseSyntax(entry.value, { loc, row, at: { loc: at, depth: depth + 1 } }, reading);
}

/** Operands that do not nest. */
function isScalar(json: unknown): boolean {
  return !Array.isArray(json) && !isJsonObject(json);
}

interface Operator {
  /** Location of the node. */
  readonly loc: Loc;
  readonly row: OperatorRow;
  /** Location of the operator's operands. */
  readonly at: NodeAt;
}

function parseSyntax(json: unknown, { loc, row, at }: Operator, reading: Reading): Operand | undefined {
  const { issues } = reading;
  switch (row.syntax) {
    case "operands": {
      const operands = parseOperands(json, at, reading);
      const counted = Array.isArray(json) && checkLength(json, at.loc, row, issues);
      return operands === undefined || !counted ? undefined : row.node(loc, operands);
    }
    case "member_and_list":
      return parseIn(json, { loc, at }, reading);
    case "contains_spec":
      return parseContains(json, { loc, at }, reading);
    case "convert_spec":
      return parseConvert(json, { loc, at }, reading);
    case "constant":
      return parseConstant(json, { loc, at }, reading);
    case "field_name":
      return parseField(json, { loc, at }, reading);
    default:
      return assertNever(row);
  }
}

function parseOperands(json: unknown, at: NodeAt, reading: Reading): readonly Operand[] | undefined {
  if (!Array.isArray(json))
    return reading.issues.add(at.loc, "list_type", "Input should be a list of operands");
  const operands: Operand[] = [];
  for (const [index, item] of json.entries()) {
    const operand = parseOperand(item, { loc: [...at.loc, index], depth: at.depth }, reading);
    if (operand !== undefined) operands.push(operand);
    if (reading.nodes > MAX_NODES) break;
  }
  return operands.length === json.length ? operands : undefined;
}

interface Within {
  readonly loc: Loc;
  readonly at: NodeAt;
}

function parseIn(json: unknown, { loc, at }: Within, reading: Reading): Operand | undefined {
  if (!Array.isArray(json)) {
    return reading.issues.add(
      at.loc,
      "list_type",
      "Input should be a list: an operand, then a list of operands",
    );
  }
  const [first, second] = json as readonly unknown[];
  if (!checkLength(json, at.loc, { min: 2, max: 2 }, reading.issues)) return undefined;
  const input = parseOperand(first, { loc: [...at.loc, 0], depth: at.depth }, reading);
  const list = parseOperands(second, { loc: [...at.loc, 1], depth: at.depth }, reading);
  return input === undefined || list === undefined ? undefined : { kind: "in", loc, input, list };
}

function parseContains(json: unknown, { loc, at }: Within, reading: Reading): Operand | undefined {
  const names = { required: ["input", "substr"], optional: ["case_insensitive"] };
  const members = parseMembers(json, at.loc, names, reading.issues);
  if (members === undefined) return undefined;
  const input = parseOperand(members["input"], { ...at, loc: [...at.loc, "input"] }, reading);
  const substr = parseOperand(members["substr"], { ...at, loc: [...at.loc, "substr"] }, reading);
  const caseInsensitive = members["case_insensitive"] ?? false;
  if (typeof caseInsensitive !== "boolean") {
    return reading.issues.add(
      [...at.loc, "case_insensitive"],
      "bool_type",
      "Input should be true, false or null",
    );
  }
  if (input === undefined || substr === undefined) return undefined;
  return { kind: "contains", loc, input, substr, caseInsensitive };
}

function parseConvert(json: unknown, { loc, at }: Within, reading: Reading): Operand | undefined {
  const members = parseMembers(json, at.loc, { required: ["input", "to"], optional: [] }, reading.issues);
  if (members === undefined) return undefined;
  const input = parseOperand(members["input"], { ...at, loc: [...at.loc, "input"] }, reading);
  const to = members["to"];
  if (!isConvertTarget(to)) {
    const names = CONVERT_TARGETS.join(", ");
    return reading.issues.add([...at.loc, "to"], "literal_error", `Input should be one of ${names}`);
  }
  return input === undefined ? undefined : { kind: "convert", loc, input, to };
}

function isConvertTarget(value: unknown): value is ConvertTarget {
  return CONVERT_TARGETS.some((target) => target === value);
}

function parseField(json: unknown, { loc, at }: Within, { fields, issues }: Reading): Operand | undefined {
  if (typeof json !== "string") return issues.add(at.loc, "string_type", "A field's name is text");
  const value = fields(json.toWellFormed(), at.loc, issues);
  return value && { kind: "field", loc, value };
}

function parseConstant(json: unknown, { loc, at }: Within, reading: Reading): Operand | undefined {
  if (typeof json === "string") return { kind: "literal", loc, value: json.toWellFormed() };
  if (typeof json === "boolean" || json === null) return { kind: "literal", loc, value: json };
  if (Array.isArray(json)) return parseArray(json, { loc, at }, reading);
  if (isJsonObject(json)) return parseObject(json, { loc, at }, reading);
  // A number, or a 64-bit integer that the body's parser keeps as text.
  const value = typeof json === "number" ? json : Number(stringifyJson(json));
  return Number.isFinite(value)
    ? { kind: "literal", loc, value }
    : reading.issues.add(at.loc, "finite_number", "Input should be a number that a double can hold");
}

function parseArray(items: readonly unknown[], { loc, at }: Within, reading: Reading): Operand | undefined {
  const operands = parseOperands(items, at, reading);
  const texts = operands?.map((operand) => jsonOfLiteral(operand, reading.issues));
  if (texts === undefined || texts.includes(undefined)) return undefined;
  return { kind: "structure", loc, json: `[${texts.join(",")}]` };
}

function parseObject(
  members: Record<string, unknown>,
  { loc, at }: Within,
  reading: Reading,
): Operand | undefined {
  const texts: (string | undefined)[] = [];
  for (const [name, value] of Object.entries(members)) {
    const operand = parseOperand(value, { loc: [...at.loc, name], depth: at.depth }, reading);
    const text = operand === undefined ? undefined : jsonOfLiteral(operand, reading.issues);
    texts.push(text === undefined ? undefined : `${stringifyJson(name)}:${text}`);
    if (reading.nodes > MAX_NODES) return undefined;
  }
  return texts.includes(undefined) ? undefined : { kind: "structure", loc, json: `{${texts.join(",")}}` };
}

function jsonOfLiteral(operand: Operand, issues: Issues): string | undefined {
  if (operand.kind === "literal") return stringifyJson(operand.value);
  if (operand.kind === "structure") return operand.json;
  return issues.add(operand.loc, "union_tag_invalid", "Only $literal stands inside a $literal");
}
