import { compileGroupKey } from "../../query/group-key.ts";
import { join, sql, type Sql } from "../../query/sql.ts";
import type { Issue } from "../../shared/errors.ts";
import { API_KEY } from "../../traces/facets/plan-facets.ts";

/** Group-by dimensions with a name of their own. */
export const DIMENSION_NAMES = [
  "llm",
  "provider",
  "op_name",
  "svc_user_id",
  "svc_run_id",
  "thread_id",
  "turn_id",
  "trace_id",
  "status",
  "api_key",
] as const;
export type DimensionName = (typeof DIMENSION_NAMES)[number];

export type RequestedDimension = DimensionName | { readonly $getField: string };

/** Part of a group key. */
export interface Dimension {
  /** Name in the key. */
  readonly label: string;
  /** Source of the value: the LLM, its provider, or a field of the call. */
  readonly source: "llm" | "provider" | "call";
  /** Field of the call; '' for other sources. */
  readonly field: string;
}

export interface Dimensions {
  readonly all: readonly Dimension[];
  /** SQL for the values of a call's fields as JSON, one per line, empty if absent; undefined without fields. */
  readonly callKey: Sql | undefined;
}

/** Parses `group_by`. Issues: unknown and repeated fields; their `loc` is relative to the list. */
export function planDimensions(requested: readonly RequestedDimension[]): {
  readonly dimensions: Dimensions;
  readonly issues: readonly Issue[];
} {
  const issues: Issue[] = [];
  const seen = new Set<string>();
  const texts: Sql[] = [];
  const all = requested.map((one, index): Dimension => {
    const label = typeof one === "string" ? one : one.$getField;
    const loc = [index];
    if (seen.has(label)) issues.push({ loc, msg: `${label} is asked for twice`, type: "value_error" });
    seen.add(label);
    if (one === "llm" || one === "provider") return { label, source: one, field: "" };
    if (one === "api_key") {
      texts.push(API_KEY);
      return { label, source: "call", field: one };
    }
    const compiled = compileGroupKey(one === "status" ? "summary.weave.status" : label);
    if (compiled.ok) texts.push(compiled.text);
    else issues.push(...compiled.issues.map((issue) => ({ ...issue, loc: [...loc, ...issue.loc] })));
    return { label, source: "call", field: label === "summary.weave.status" ? "status" : label };
  });
  const callKey = texts.length === 0 ? undefined : sql`concat(${join(texts, ", '\\n', ")}, '')`;
  return { dimensions: { all, callKey }, issues };
}
