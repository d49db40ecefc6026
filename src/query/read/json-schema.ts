import { assertNever } from "../../shared/assert-never.ts";
import { CONVERT_TARGETS } from "./ast.ts";
import { isOperation, operators, type OperatorRow } from "./operators.ts";

/** The name by which `operandSchema` is referenced. */
export const OPERAND_ID = "QueryOperand";
const operand = { $ref: `#/components/schemas/${OPERAND_ID}` };

/** The name by which `operationSchema` is referenced. */
export const OPERATION_ID = "QueryOperation";
const operation = { $ref: `#/components/schemas/${OPERATION_ID}` };

// The valid forms of `{"$operator": …}` as JSON Schema, generated from the table of operators for readers.
const entries = [...operators];
const operations = entries.filter(([, row]) => isOperation(row));
const others = entries.filter(([, row]) => !isOperation(row));
export const operationSchema = { oneOf: operations.map(([name, row]) => entrySchema(name, row)) };
export const operandSchema = { oneOf: [operation, ...others.map(([name, row]) => entrySchema(name, row))] };

export const querySchema = {
  type: "object",
  description: "Additional conditions; see docs/query-language.md.",
  properties: { $expr: operation },
  required: ["$expr"],
  additionalProperties: false,
};

function entrySchema(name: string, row: OperatorRow) {
  return {
    type: "object",
    properties: { [name]: givenSchema(row) },
    required: [name],
    additionalProperties: false,
  };
}

function givenSchema(row: OperatorRow): object {
  switch (row.syntax) {
    case "operands":
      return {
        type: "array",
        items: operand,
        minItems: row.min,
        ...(row.max === Infinity ? {} : { maxItems: row.max }),
      };
    case "member_and_list":
      return {
        type: "array",
        description: "An operand, then a list of operands.",
        items: { anyOf: [operand, { type: "array", items: operand }] },
        minItems: 2,
        maxItems: 2,
      };
    case "contains_spec":
      return {
        type: "object",
        properties: {
          input: operand,
          substr: operand,
          case_insensitive: { anyOf: [{ type: "boolean" }, { type: "null" }] },
        },
        required: ["input", "substr"],
        additionalProperties: false,
      };
    case "convert_spec":
      return {
        type: "object",
        properties: { input: operand, to: { enum: CONVERT_TARGETS } },
        required: ["input", "to"],
        additionalProperties: false,
      };
    case "constant":
      return {
        description: "A constant: text, a number, true, false, null, or an object or array of $literal.",
      };
    case "field_name":
      return { type: "string", description: "A field of the call. Dots reach into nested fields." };
    default:
      return assertNever(row);
  }
}
