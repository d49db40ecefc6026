import type { AnswerOf, BodyOf } from "../api/routes.ts";
import { patternOf, piecesOf } from "../format/error-pattern.ts";
import { nameOfOp, partOfAddress, printOp } from "../format/op-name.ts";
import { oneLine } from "../format/plain-text.ts";
import { toPicodollar } from "../format/usage.ts";
import { readQuery, type AskedFor } from "../state/query.ts";
import { ALIASES, printSearch, STATUSES, type Condition, type Search } from "../state/search.ts";
import { isOfRoot } from "../state/select-traces.ts";

type FacetField = BodyOf<"/traces/facets">["fields"][number];
export type FacetValue = AnswerOf<"/traces/facets">["facets"][number]["values"][number];

/** Values that were found. */
export interface FoundValues {
  readonly values: readonly NamedValue[];
  /** Number of values left out. */
  readonly other: number;
}

/** A value as a search names it. */
export interface NamedValue extends FacetValue {
  /** The values that it stands for. */
  readonly title?: string;
  /** Names whose values a search for this one finds too, and has to leave out. */
  readonly but?: readonly string[] | undefined;
  /** Values of this name may not have been found. */
  readonly isUnsure?: boolean;
}

/** Several values of a field have one name, by which a search selects them. */
interface Naming {
  readonly nameOf: (value: string) => string;
  /** A text as a search compares it. */
  readonly fold: (text: string) => string;
  /** Whether a search for the name finds a value, both folded. */
  readonly finds: (name: string, value: string) => boolean;
}

/** Field whose values divide the listed traces. */
export interface Facet {
  /** As the service names it; `failed`: whether any call failed; `exception`: errors of one pattern. */
  readonly key: string;
  readonly field: FacetField | undefined;
  readonly label: string;
  /** Condition that selects a value. */
  readonly by: Pick<Condition, "field" | "ofRoot">;
  readonly naming?: Naming;
}

const OPERATIONS: Naming = {
  nameOf: nameOfOp,
  fold: (text) => text,
  finds: (name, value) => value === name || value.includes(partOfAddress(name)!),
};
const ERRORS: Naming = {
  nameOf(exception) {
    const pattern = patternOf(exception);
    return piecesOf(pattern).length > 0 ? pattern : exception;
  },
  fold: (text) => text.toUpperCase().toLowerCase(),
  finds: (pattern, value) => piecesOf(pattern).every((piece) => value.includes(piece)),
};

const OWN: readonly Facet[] = [
  facet("status", "Status of the root", { field: "status", ofRoot: true }),
  { key: "failed", field: undefined, label: "Any call", by: { field: "status" } },
  { ...facet("op_name", "Operation of the root", { field: "op", ofRoot: true }), naming: OPERATIONS },
  {
    key: "exception",
    field: undefined,
    label: "Error of the root",
    by: { field: "error", ofRoot: true },
    naming: ERRORS,
  },
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
export function facetOfField(name: string): Facet | undefined {
  const field = ALIASES.get(name) ?? name;
  const own = OWN.find(({ key, by }) => by.field === field && key !== "failed");
  return own ?? (field.includes(".") ? facetOfPath(field) : undefined);
}

const [MAX_NAMES, MAX_LEFT_OUT, MAX_LINES] = [50, 5, 5];

/** Adds up values with one name. An operation that is searched for by its address has a row of its own. */
export function mergeNames(facet: Facet, found: FoundValues, search: Search | undefined): FoundValues {
  if (facet.naming === undefined) return found;
  const { nameOf, fold, finds } = facet.naming;
  const known = found.values.flatMap(({ value, ...count }) => {
    const [text, name] = [String(value), nameOf(String(value))];
    return value === null ? [] : { value, count, name, text: fold(text), folded: fold(name) };
  });
  const own = search?.conditions.filter((one) => isOwn(facet, one)) ?? [];
  const addressed = known.filter(
    ({ value, name }) => name !== value && own.some((one) => one.value === value),
  );
  const groups = [...Map.groupBy(known, ({ folded }) => folded)].map(([folded, all]) => {
    const [{ name }, costs] = [all[0]!, all.flatMap(({ count: { total_cost: usd } }) => usd ?? [])];
    const traces = all.reduce((sum, { count }) => sum + count.traces, 0);
    const usd = costs.length === 0 ? null : toPicodollar(costs.reduce((sum, one) => sum + one));
    const count = { traces, total_cost: usd, partial: all.some(({ count: { partial } }) => partial) };
    const title = all.slice(0, MAX_LINES).map(({ value }) => oneLine(String(value)));
    return { folded, value: name, ...count, title: title.join("\n") };
  });
  const most = groups.toSorted((a, b) => b.traces - a.traces).slice(0, MAX_NAMES);
  const merged = most.map(({ folded: own, ...one }): NamedValue => {
    const others = groups.filter(({ folded }) => folded !== own && finds(own, folded)).slice(0, MAX_LEFT_OUT);
    const isFound = (text: string): boolean =>
      finds(own, text) && !others.some(({ folded }) => finds(folded, text));
    const isUnsure = found.other > 0 || known.some(({ text, folded }) => isFound(text) !== (folded === own));
    return { ...one, but: others.map(({ value }) => value), isUnsure };
  });
  const none = found.values.filter(({ value }) => value === null);
  const values = [...addressed.map(({ value, count }) => ({ value, ...count })), ...merged, ...none];
  return { values, other: found.other + groups.length - most.length };
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

/** Conditions that select a value; none: nothing selects exactly these traces. */
export function conditionsOf(
  facet: Facet,
  { value, but = [] }: Pick<NamedValue, "value" | "but">,
): readonly Condition[] {
  const condition = conditionOf(facet, value);
  if (condition === undefined) return [];
  return [condition, ...but.map((name) => ({ ...condition, value: name, isNot: true }))];
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
  found: readonly NamedValue[],
  search: Search | undefined,
): readonly FacetRow[] {
  const own = search?.conditions.filter((one) => isOwn(facet, one)) ?? [];
  const others = search?.conditions.filter((one) => !isOwn(facet, one)) ?? [];
  const linkTo = (conditions: readonly Condition[]): string | undefined =>
    search && printSearch({ ...search, conditions: [...others, ...conditions] });
  const rows = found.map(({ value, title, but, traces, total_cost, partial }) => {
    const conditions = conditionsOf(facet, { value, but });
    return { conditions, value, title, count: { traces, total_cost, partial } };
  });
  const lost = own.filter(({ value }) => !rows.some(({ conditions: [one] }) => one?.value === value));
  const count = { traces: 0, total_cost: 0, partial: false };
  const absent = lost.map((one) => ({ conditions: [one], value: one.value, title: undefined, count }));
  return [...rows, ...absent].map(({ conditions, value, title, count }) => {
    const [condition] = conditions;
    const chosen = own.find((one) => one.value === condition?.value);
    const leftOut = own.filter((one) => one.isNot && one !== chosen);
    const isOnly = chosen?.isNot === false;
    const isWithout = chosen?.isNot === true;
    const texts = textsOf(condition?.value ?? value);
    return {
      ...texts,
      title: title ?? texts.title,
      count,
      chosen: isOnly ? "only" : isWithout ? "without" : undefined,
      only: condition && linkTo(isOnly ? [] : [{ ...condition, isNot: false }, ...conditions.slice(1)]),
      without:
        condition?.ofRoot === true
          ? linkTo(isWithout ? leftOut : [...leftOut, { ...condition, isNot: true }])
          : undefined,
    };
  });
}

function textsOf(value: FacetValue["value"]): Pick<FacetRow, "label" | "title"> {
  if (value === null) return { label: "(none)", title: "none" };
  const text = String(value);
  const label = oneLine(printOp(text), 100);
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
