import { type Column, columns, computedColumns, type ValueType } from "./columns.ts";
import { feedbackColumns } from "./feedback-columns.ts";
import { quote, type Issues, type Loc } from "../issues.ts";
import { FEEDBACK_FORMS, FEEDBACK_PREFIX, parseFeedbackField, type FeedbackField } from "./feedback-field.ts";
import { countIndexSteps, MAX_INDEX_STEPS, splitFieldName } from "./json-path.ts";
import { priceColumns } from "./price-columns.ts";
import { didYouMean } from "../nearest-names.ts";

/** Column or path of a field's name. */
export type FieldValue =
  | { readonly kind: "column"; readonly type: ValueType; readonly column: Column }
  | {
      readonly kind: "path";
      readonly type: "json";
      readonly column: Column;
      readonly steps: readonly string[];
    }
  | { readonly kind: "feedback"; readonly type: ValueType; readonly field: FeedbackField };

/** Limit of parts in a name: each becomes an argument of the statement. */
const MAX_PARTS = 64;

/** Resolves a field's name. Errors: `unknown_field` with the nearest names; `too_long`. */
export type FieldResolver = (name: string, loc: Loc, issues: Issues) => FieldValue | undefined;

/** Resolves fields of a call. */
export const callFields: FieldResolver = (name, loc, issues) => {
  const parts = partsOf(name, loc, issues);
  if (parts === undefined) return undefined;
  const [root, ...steps] = parts;
  if (name.startsWith(FEEDBACK_PREFIX)) {
    const field = parseFeedbackField(name);
    if (field !== undefined) return { kind: "feedback", type: field.type, field };
    return issues.add(
      loc,
      "unknown_field",
      `Unknown field ${quote(name)}. Feedback is read by ${FEEDBACK_FORMS}`,
    );
  }
  if (root === "summary" && steps[0] === "weave")
    return resolveComputed(name, steps.slice(1), { loc, issues });
  return resolveColumn(columns, parts, { name, loc, issues });
};

/** Resolves fields of a feedback. */
export const feedbackFields: FieldResolver = (name, loc, issues) => {
  const parts = partsOf(name, loc, issues);
  return parts && resolveColumn(feedbackColumns, parts, { name, loc, issues });
};

/** Resolves fields of a price. */
export const priceFields: FieldResolver = (name, loc, issues) => {
  const parts = partsOf(name, loc, issues);
  return parts && resolveColumn(priceColumns, parts, { name, loc, issues });
};

type Parts = readonly [root: string, ...steps: string[]];

function partsOf(name: string, loc: Loc, issues: Issues): Parts | undefined {
  const parts = splitFieldName(name);
  if (parts.length > MAX_PARTS)
    return issues.add(loc, "too_long", `A field's name has at most ${MAX_PARTS} parts`);
  if (countIndexSteps(parts) <= MAX_INDEX_STEPS) return parts;
  return issues.add(loc, "too_long", `A path has at most ${MAX_INDEX_STEPS} steps that look like integers`);
}

function resolveColumn(
  columns: ReadonlyMap<string, Column>,
  [root, ...steps]: Parts,
  { name, loc, issues }: { name: string; loc: Loc; issues: Issues },
): FieldValue | undefined {
  const column = columns.get(root);
  if (column === undefined) {
    const hint = didYouMean(name, columns.keys()) || didYouMean(root, columns.keys());
    return issues.add(loc, "unknown_field", `Unknown field ${quote(name)}.${hint}`);
  }
  if (steps.length === 0) return { kind: "column", type: column.type, column };
  if (column.type !== "json") {
    return issues.add(loc, "unknown_field", `Unknown field ${quote(name)}: ${root} has no fields of its own`);
  }
  return { kind: "path", type: "json", column, steps };
}

function resolveComputed(
  name: string,
  [member = "", ...rest]: readonly string[],
  { loc, issues }: { loc: Loc; issues: Issues },
): FieldValue | undefined {
  const column = rest.length === 0 ? computedColumns.get(member) : undefined;
  if (column !== undefined) return { kind: "column", type: column.type, column };
  const known = [...computedColumns.keys()].map((key) => `summary.weave.${key}`).join(", ");
  return issues.add(loc, "unknown_field", `Unknown field ${quote(name)}; known are ${known}`);
}
