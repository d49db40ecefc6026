import { compileGroupKey } from "../../query/index.ts";
import { sql, type Sql } from "../../query/sql.ts";
import type { Issue } from "../../shared/errors.ts";
import { HAS_FAILED, LLMS, STATUS } from "../plan/call-conditions.ts";
import { ROOT_FIRST } from "../plan/plan-traces.ts";

/** Named facets; others are fields of the root. */
export const FACET_NAMES = [
  "status",
  "failed",
  "op_name",
  "any_op_name",
  "model",
  "svc_user_id",
  "svc_run_id",
  "thread_id",
] as const;
type FacetName = (typeof FACET_NAMES)[number];

export interface Facet {
  readonly label: string;
  /** SQL over the calls of a trace, `Array(String)`: its values as JSON, '' for none. */
  readonly values: Sql;
}

const ofNames: Readonly<Record<FacetName, Sql>> = {
  status: sql`[toJSONString(${ofRoot(STATUS)})]`,
  failed: sql`[if(max(${HAS_FAILED}), 'true', 'false')]`,
  op_name: sql`[${textOf(ofRoot(sql`ifNull(op_name, '')`))}]`,
  any_op_name: ofAny("op_name"),
  model: orNone(sql`arrayMap(llm -> toJSONString(llm), groupUniqArrayArray(${LLMS}))`),
  svc_user_id: ofAny("svc_user_id"),
  svc_run_id: ofAny("svc_run_id"),
  thread_id: ofAny("thread_id"),
};

/** Plans facets. Issues: unknown and repeated fields; their `loc` is relative to the list. */
export function planFacets(requested: readonly (FacetName | { readonly $getField: string })[]): {
  readonly facets: readonly Facet[];
  readonly issues: readonly Issue[];
} {
  const issues: Issue[] = [];
  const seen = new Set<string>();
  const facets = requested.flatMap((one, place): readonly Facet[] => {
    const label = typeof one === "string" ? one : one.$getField;
    if (seen.has(label))
      issues.push({ loc: [place], msg: `${label} is asked for twice`, type: "value_error" });
    seen.add(label);
    if (typeof one === "string") return [{ label, values: ofNames[one] }];
    const compiled = compileGroupKey(label);
    if (compiled.ok) return [{ label, values: itemsOf(ofRoot(compiled.text)) }];
    issues.push(...compiled.issues.map((issue) => ({ ...issue, loc: [place, "$getField", ...issue.loc] })));
    return [];
  });
  return { facets, issues };
}

function ofRoot(value: Sql): Sql {
  return sql`argMin(${value}, ${ROOT_FIRST})`;
}

function textOf(text: Sql): Sql {
  return sql`if(${text} = '', '', toJSONString(${text}))`;
}

/** SQL of the distinct values of all calls. */
function ofAny(column: "op_name" | "svc_user_id" | "svc_run_id" | "thread_id"): Sql {
  const text = {
    op_name: sql`ifNull(op_name, '')`,
    svc_user_id: sql`ifNull(svc_user_id, '')`,
    svc_run_id: sql`ifNull(svc_run_id, '')`,
    thread_id: sql`ifNull(thread_id, '')`,
  }[column];
  return orNone(sql`arrayMap(text -> toJSONString(text), groupUniqArrayIf(${text}, ${text} != ''))`);
}

function orNone(values: Sql): Sql {
  return sql`arrayMap(value -> value, if(empty(${values}), [''], ${values}))`;
}

/** SQL of the items of a list; of any other value, itself. */
function itemsOf(json: Sql): Sql {
  return sql`if(startsWith(${json}, '['), arrayDistinct(JSONExtractArrayRaw(${json})), [${json}])`;
}
