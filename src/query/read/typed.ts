import type { CompareOperator, ConvertTarget } from "./ast.ts";
import type { ValueType } from "../fields/columns.ts";
import type { FeedbackField } from "../fields/feedback-field.ts";
import type { FieldValue } from "../fields/fields.ts";

/** The type that both sides of a comparison are read as. A value of another type is unknown (or '' as text). */
export type Context = "text" | "number" | "bool" | "instant";

/** The type that a context takes without conversion. */
export const typeOfContext = {
  text: "string",
  number: "number",
  bool: "bool",
  instant: "instant",
} as const satisfies Record<Context, ValueType>;

export type Constant =
  | { readonly kind: "constant"; readonly type: "string"; readonly value: string }
  | { readonly kind: "constant"; readonly type: "number"; readonly value: number }
  | { readonly kind: "constant"; readonly type: "bool"; readonly value: boolean }
  /** Microseconds since the epoch. */
  | { readonly kind: "constant"; readonly type: "instant"; readonly value: number };

/** A resolved operand with a type. */
export type Value =
  | { readonly kind: "null"; readonly type: "json" }
  | Constant
  | FieldValue
  | { readonly kind: "convert"; readonly type: ValueType; readonly to: ConvertTarget; readonly input: Value }
  | { readonly kind: "condition"; readonly type: "bool"; readonly condition: Condition }
  /** The value of the innermost `with` around it. */
  | { readonly kind: "bound"; readonly type: ValueType };

/** A condition that is true, false or unknown for a call. */
export type Condition =
  | { readonly kind: "and" | "or"; readonly conditions: readonly Condition[] }
  | { readonly kind: "not"; readonly condition: Condition }
  /** Binds a value that is printed once, however often the condition uses it. */
  | { readonly kind: "with"; readonly value: Value; readonly condition: Condition }
  | { readonly kind: "never" }
  | { readonly kind: "unknown" }
  | { readonly kind: "absent"; readonly value: Value }
  /** An operand on its own. */
  | { readonly kind: "truth"; readonly value: Value }
  | {
      readonly kind: "compare";
      readonly operator: CompareOperator;
      /** `number_or_text`: as numbers if both sides are numbers, or else as text. */
      readonly context: Context | "number_or_text";
      readonly left: Value;
      readonly right: Value;
    }
  | {
      readonly kind: "one_of";
      readonly context: Context;
      readonly value: Value;
      readonly constants: readonly Constant[];
    }
  | {
      readonly kind: "contains";
      readonly input: Value;
      readonly substr: Value;
      readonly caseInsensitive: boolean;
    }
  /** True if it is true for any of the field's values. Without values, it is evaluated for an absent one. */
  | { readonly kind: "any_feedback"; readonly field: FeedbackField; readonly condition: Condition };
