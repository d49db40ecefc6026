import { ofProject } from "../../query/hour-buckets.ts";
import { compileGroupKey } from "../../query/group-key.ts";
import { IS_VISIBLE } from "../../query/fields/columns.ts";
import { param, sql, type Sql } from "../../query/sql.ts";
import { rootValues } from "../read/root-values.ts";
import type { Issue } from "../../shared/errors.ts";
import type { Project } from "../../shared/project.ts";

/** Fields with a name of their own. */
export const FACET_NAMES = [
  "status",
  "op_name",
  "llm",
  "provider",
  "svc_user_id",
  "thread_id",
  "api_key",
  "feedback",
] as const;
type FacetName = (typeof FACET_NAMES)[number];
export type RequestedFacet = FacetName | { readonly $getField: string };

/** Field whose values divide traces. A value is JSON text, '' if absent. */
export interface Facet {
  readonly label: string;
  /** Name of the field in the query language, to find its own conditions. */
  readonly field: string;
  /** Source of the values in usage records: a column of the root, the models used, or none. */
  readonly ofRecords: { readonly column: Sql } | { readonly models: "llm" | "provider" } | undefined;
  /** SQL subquery of `trace_id` and `values`, `Array(String)`, for the traces with calls in `place`; none for models. */
  readonly valuesIn: ((project: Project, place: Sql) => Sql) | undefined;
}

/** Plans facets. Issues: unknown and repeated fields; their `loc` is relative to the list. */
export function planFacets(requested: readonly RequestedFacet[]): {
  readonly facets: readonly Facet[];
  readonly issues: readonly Issue[];
} {
  const issues: Issue[] = [];
  const seen = new Set<string>();
  const facets = requested.flatMap((one, place): readonly Facet[] => {
    const label = typeof one === "string" ? one : one.$getField;
    const loc = [place];
    if (seen.has(label)) issues.push({ loc, msg: `${label} is asked for twice`, type: "value_error" });
    seen.add(label);
    if (one === "llm" || one === "provider")
      return [{ label, field: label, ofRecords: { models: one }, valuesIn: undefined }];
    if (one === "feedback") return [{ label, field: label, ofRecords: undefined, valuesIn: feedbackTypes }];
    if (one === "api_key") return [{ ...ofRoot(label, API_KEY), ofRecords: { column: sql`api_key` } }];
    const field = one === "status" ? "summary.weave.status" : label;
    const compiled = compileGroupKey(field);
    const column = RECORD_COLUMNS.get(one);
    if (compiled.ok)
      return [
        { ...ofRoot(label, compiled.text), field, ofRecords: column === undefined ? undefined : { column } },
      ];
    issues.push(...compiled.issues.map((issue) => ({ ...issue, loc: [...loc, "$getField", ...issue.loc] })));
    return [];
  });
  return { facets, issues };
}

/** Id of the API key that sent a call. Not a field of the query language. */
export const API_KEY = sql`if(ifNull(api_key, '') = '', '', toJSONString(assumeNotNull(api_key)))`;

const RECORD_COLUMNS = new Map<RequestedFacet, Sql>([
  ["op_name", sql`op_name`],
  ["status", sql`status`],
  ["svc_user_id", sql`svc_user_id`],
  ["thread_id", sql`thread_id`],
]);

/** Facet of the root's value. */
function ofRoot(label: string, text: Sql): Omit<Facet, "ofRecords"> {
  return { label, field: label, valuesIn: (project, place) => rootValues(project, place, text) };
}

/** Types of the feedback on any call. */
function feedbackTypes(project: Project, place: Sql): Sql {
  const prefix = `weave:///${project}/call/`;
  const id = sql`substring(weave_ref, ${param("UInt32", Buffer.byteLength(prefix) + 1)})`;
  const feedback = sql`SELECT DISTINCT ${id} AS id, feedback_type FROM feedback FINAL
    WHERE ${ofProject(project)} AND deleted = 0 AND startsWith(weave_ref, ${param("String", prefix)})`;
  return sql`(SELECT trace_id, groupUniqArray(toJSONString(feedback_type)) AS values
    FROM (SELECT trace_id, id FROM calls FINAL
      PREWHERE ${ofProject(project)} AND ${place} AND (hour, trace_id) IN
        (SELECT hour, trace_id FROM call_keys WHERE ${ofProject(project)} AND id IN (SELECT id FROM (${feedback})))
      WHERE ${IS_VISIBLE}) AS called
    INNER JOIN (${feedback}) AS given ON called.id = given.id GROUP BY trace_id)`;
}
