import type { AnswerOf, BodyOf } from "../api/routes.ts";
import { shortName } from "../format/op-name.ts";
import { oneLine } from "../format/plain-text.ts";
import { readQuery, type AskedFor } from "../state/query.ts";
import { printSearch, STATUSES, type Condition, type Search } from "../state/search.ts";
import { isOfRoot } from "../state/select-traces.ts";

type FacetField = BodyOf<"/traces/facets">["fields"][number];
export type FacetValue = AnswerOf<"/traces/facets">["facets"][number]["values"][number];

/** Field whose values divide the listed traces. */
export interface Facet {
  /** As the service names it; `failed`: whether any call failed. */
  readonly key: string;
  readonly field: FacetField | undefined;
  readonly label: string;
  /** Condition that selects a value. */
  readonly by: Pick<Condition, "field" | "ofRoot">;
}

const OWN: readonly Facet[] = [
  facet("status", "Status of the root", { field: "status", ofRoot: true }),
  { key: "failed", field: undefined, label: "Any call", by: { field: "status" } },
  facet("op_name", "Operation", { field: "op", ofRoot: true }),
  facet("llm", "Model of any call", { field: "model" }),
  facet("svc_user_id", "User", { field: "user", ofRoot: true }),
  facet("thread_id", "Thread", { field: "thread", ofRoot: true }),
  facet("feedback", "Feedback on any call", { field: "feedback" }),
];

/** The service takes twelve fields. */
export const MAX_ADDED = 12 - OWN.filter(({ field }) => field !== undefined).length;

function facet(field: string & FacetField, label: string, by: Facet["by"]): Facet {
  return { key: field, field, label, by };
}

/** All facets, with those of the fields that were added. */
export function facetsWith(paths: readonly string[]): readonly Facet[] {
  return [...OWN, ...paths.slice(0, MAX_ADDED).map(facetOfPath)];
}

export function facetOfPath(path: string): Facet {
  return { key: path, field: { $getField: path }, label: path, by: { field: path, ofRoot: true } };
}

/** The facet whose values a search field can have. */
export function facetOfField(field: string): Facet | undefined {
  const own = OWN.find(({ key, by }) => by.field === field && key !== "failed");
  return own ?? (field.includes(".") ? facetOfPath(field) : undefined);
}

/** Conditions on a facet, which it does not apply to itself so that other values can be chosen. */
function isOwn({ key, by }: Facet, condition: Condition): boolean {
  return (
    condition.field === by.field &&
    condition.op === ":" &&
    (by.ofRoot === true ? condition.ofRoot === true : !isOfRoot(condition)) &&
    (key !== "failed" || condition.value === "failed")
  );
}

/** Values are cut at so many characters. */
const MAX_CHARS = 1000;

/** Undefined: nothing selects exactly these traces. */
export function conditionOf({ key, by }: Facet, value: FacetValue["value"]): Condition | undefined {
  const text = value === null ? null : String(value);
  // a model or type of no call cannot be asked for
  if ((text === null && by.ofRoot !== true) || (text?.length ?? 0) >= MAX_CHARS) return undefined;
  if (key === "feedback" && text?.includes("]") === true) return undefined;
  const status = Object.entries(STATUSES).find(([, one]) => one === text)?.[0];
  return { ...by, op: ":", value: key === "status" ? (status ?? text) : text, isNot: false };
}

/** The value of a facet, how it is chosen now, and the searches that its links lead to. */
export interface FacetRow {
  readonly label: string;
  readonly title: string;
  readonly count: Omit<FacetValue, "value">;
  readonly chosen: "only" | "without" | undefined;
  /** Only these traces, or all again. */
  readonly only: string | undefined;
  /** The traces without these; undefined where the service cannot select them. */
  readonly without: string | undefined;
}

/** Rows of a facet: values that were found, and chosen ones that were not. `search`: undefined if it is JSON. */
export function rowsOf(
  facet: Facet,
  found: readonly FacetValue[],
  search: Search | undefined,
): readonly FacetRow[] {
  const own = search?.conditions.filter((one) => isOwn(facet, one)) ?? [];
  const others = search?.conditions.filter((one) => !isOwn(facet, one)) ?? [];
  const linkTo = (conditions: readonly Condition[]): string | undefined =>
    search && printSearch({ ...search, conditions: [...others, ...conditions] });
  const rows = found.map(({ value, ...count }) => ({ condition: conditionOf(facet, value), value, count }));
  const lost = own.filter(({ value }) => !rows.some(({ condition }) => condition?.value === value));
  const none = { traces: 0, total_cost: 0, partial: false };
  return [...rows, ...lost.map((one) => ({ condition: one, value: one.value, count: none }))].map(
    ({ condition, value, count }) => {
      const chosen = own.find((one) => one.value === condition?.value);
      const leftOut = own.filter((one) => one.isNot && one !== chosen);
      const isOnly = chosen?.isNot === false;
      const isWithout = chosen?.isNot === true;
      return {
        ...textsOf(facet, condition?.value ?? value),
        count,
        chosen: isOnly ? "only" : isWithout ? "without" : undefined,
        only: condition && linkTo(isOnly ? [] : [{ ...condition, isNot: false }]),
        without:
          condition?.ofRoot === true
            ? linkTo(isWithout ? leftOut : [...leftOut, { ...condition, isNot: true }])
            : undefined,
      };
    },
  );
}

function textsOf({ key }: Facet, value: FacetValue["value"]): Pick<FacetRow, "label" | "title"> {
  if (value === null) return { label: "(none)", title: "none" };
  const text = String(value);
  const label = key === "op_name" ? shortName(text, null) : oneLine(text, 100);
  return { label: label === "descendant_error" ? "failed below" : label, title: oneLine(text) };
}

/** True if its counts are upper bounds: the selected call has to match all other conditions on any call, too. */
export function isAtMost(facet: Facet, search: Search | undefined): boolean {
  if (search === undefined || facet.by.ofRoot === true || facet.key === "failed") return false;
  const others = search.conditions.filter((one) => !isOwn(facet, one));
  return search.words.length > 0 || others.some((one) => !isOfRoot(one) && one.field !== "trace");
}

/** The query without the conditions of a facet. */
export function queryBeside(facet: Facet, query: AskedFor): AskedFor {
  const { search } = query;
  if (search === undefined) return query;
  const conditions = search.conditions.filter((one) => !isOwn(facet, one));
  return readQuery(printSearch({ ...search, conditions }), "traces");
}
