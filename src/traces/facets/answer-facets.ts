import type { CallsFilter } from "../../query/read/wire-schema.ts";
import { parseJson } from "../../shared/json.ts";
import { moneyText } from "../../prices/money.ts";
import { planTraces, type TracesRequested } from "../plan/plan-traces.ts";
import type { Project } from "../../shared/project.ts";
import type { Facet } from "./plan-facets.ts";
import type { ReadDeps } from "../read/fold-traces.ts";
import { readFacets, type FacetValues } from "./read-facets.ts";

export interface FacetsRequested extends TracesRequested {
  readonly fields: readonly Facet[];
  /** Maximum number of values per facet. */
  readonly limit: number;
}

/** Builds the text of a response: facets with a condition on their own field select by the other conditions. */
export async function answerFacets(
  deps: ReadDeps,
  {
    project,
    requested,
    nowMs,
  }: { readonly project: Project; readonly requested: FacetsRequested; readonly nowMs: number },
): Promise<string> {
  const { fields, limit, ...selection } = requested;
  // the whole selection is checked, also where no facet uses it
  planTraces(project, selection, nowMs);
  const selections = fields.map(({ field }) => withoutOwnCondition(selection, field));
  const texts: string[] = [];
  for (const [one, places] of Map.groupBy(fields.keys(), (place) => selections[place]!)) {
    const plan = planTraces(project, one, nowMs);
    const facets = [...places].map((place) => fields[place]!);
    const found = await readFacets(deps, plan, { facets, limit });
    for (const [index, place] of [...places].entries())
      texts[place] = facetText(facets[index]!, found[index]!);
  }
  return `{"facets":[${texts.join(",")}]}`;
}

function facetText({ label }: Facet, { values, other }: FacetValues): string {
  const texts = values.map(
    ([value, { traces, cost }]) =>
      `{"value":${JSON.stringify(valueOf(value))},"traces":${traces},"total_cost":${moneyText(cost)},"partial":${cost.unpriced}}`,
  );
  return `{"field":${JSON.stringify(label)},"values":[${texts.join(",")}],"other":${other}}`;
}

const MAX_CHARACTERS = 1000;

/** Returns a scalar, or the JSON text of any other value. */
function valueOf(json: string): string | number | boolean | null {
  if (json === "") return null;
  const value = parseJson(json);
  if (typeof value === "number" || typeof value === "boolean") return value;
  const text = typeof value === "string" ? value : json;
  return text.length <= MAX_CHARACTERS
    ? text
    : Array.from(text.slice(0, 2 * MAX_CHARACTERS))
        .slice(0, MAX_CHARACTERS)
        .join("");
}

/** Filter members about a field. */
const MEMBERS: Readonly<Record<string, readonly (keyof CallsFilter)[]>> = {
  op_name: ["op_names"],
  svc_user_id: ["svc_user_ids"],
  thread_id: ["thread_ids"],
};
/** The members of `$expr` that hold operands. */
interface Operator {
  readonly $and?: readonly Operator[];
  readonly $eq?: readonly unknown[];
  readonly $in?: readonly unknown[];
}

/**
 * Removes the conditions on one field of the root: members of the filter, and `$eq` and `$in` at the top of the query. Returns
 * the same object if there are none.
 */
function withoutOwnCondition(requested: TracesRequested, field: string): TracesRequested {
  const { filter, query } = requested;
  const members = (MEMBERS[field] ?? []).filter((member) => filter?.[member] != null);
  const expression = (query as { readonly $expr: Operator } | null | undefined)?.$expr;
  const kept = expression === undefined ? undefined : withoutField(expression, field);
  if (members.length === 0 && kept === expression) return requested;
  const ofFilter = Object.fromEntries(members.map((member) => [member, undefined]));
  return {
    ...requested,
    filter: filter == null ? filter : { ...filter, ...ofFilter },
    query: kept === undefined ? undefined : { $expr: kept },
  };
}

function withoutField(expression: Operator, field: string): Operator | undefined {
  const { $and, $eq, $in } = expression;
  if ([...($eq ?? []), ...($in?.slice(0, 1) ?? [])].some((operand) => isField(operand, field)))
    return undefined;
  if ($and === undefined) return expression;
  const kept = $and.map((one) => withoutField(one, field));
  if (kept.every((one, place) => one === $and[place])) return expression;
  const some = kept.filter((one) => one !== undefined);
  return some.length === 0 ? undefined : { $and: some };
}

function isField(operand: unknown, field: string): boolean {
  return (operand as { readonly $getField?: unknown } | null)?.$getField === field;
}
