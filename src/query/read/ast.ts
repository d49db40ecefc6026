import type { Loc } from "../issues.ts";
import type { FieldValue } from "../fields/fields.ts";

export type CompareOperator = "$eq" | "$gt" | "$lt" | "$gte" | "$lte";

export const CONVERT_TARGETS = ["double", "string", "int", "bool", "exists"] as const;
export type ConvertTarget = (typeof CONVERT_TARGETS)[number];

/** A parsed query: well-formed, with known fields, but not yet type-checked. */
export type Operand =
  | { readonly kind: "literal"; readonly loc: Loc; readonly value: string | number | boolean | null }
  /** An object or array of literals, as compact JSON. */
  | { readonly kind: "structure"; readonly loc: Loc; readonly json: string }
  | { readonly kind: "field"; readonly loc: Loc; readonly value: FieldValue }
  | { readonly kind: "convert"; readonly loc: Loc; readonly input: Operand; readonly to: ConvertTarget }
  | Operation;

export type Operation =
  | { readonly kind: "and" | "or"; readonly loc: Loc; readonly operands: readonly Operand[] }
  | { readonly kind: "not"; readonly loc: Loc; readonly operand: Operand }
  | {
      readonly kind: "compare";
      readonly loc: Loc;
      readonly operator: CompareOperator;
      readonly left: Operand;
      readonly right: Operand;
    }
  | { readonly kind: "in"; readonly loc: Loc; readonly input: Operand; readonly list: readonly Operand[] }
  | {
      readonly kind: "contains";
      readonly loc: Loc;
      readonly input: Operand;
      readonly substr: Operand;
      readonly caseInsensitive: boolean;
    };
