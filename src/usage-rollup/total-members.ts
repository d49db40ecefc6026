import { costFields } from "../prices/cost-fields.ts";
import { countFields } from "../usage/count-fields.ts";

/** A query sums calls by their own fields and start, or whole traces by those of their roots. */
export const SUBJECTS = ["calls", "traces"] as const;
export type Subject = (typeof SUBJECTS)[number];

/** Members of a total, in response order. */
export const COUNT_MEMBERS = ["calls", "errors", ...countFields.map(({ wire }) => wire)] as const;
export const COST_MEMBERS = [...costFields.map(({ wire }) => wire), "total_cost"] as const;
/** Members with the sum of stated costs and the number of usages that state one; present with costs. */
export const STATED_COST_MEMBER = "stated_cost";
export const CALLS_STATED_MEMBER = "calls_stated";
/** Member that is true if the costs are lower bounds. */
export const PARTIAL_MEMBER = "partial";
/** Members of traces; those after the counts with costs. */
export const TRACE_COUNT_MEMBERS = ["traces", "traces_failed", "traces_with_failures"] as const;
export const WASTED_COST_MEMBER = "wasted_cost";
export const COST_PER_TRACE_MEMBER = "cost_per_trace";

/** Places of `traces`, `total_cost` and `wasted_cost` in `Sums`. */
export const TRACES_SLOT = COUNT_MEMBERS.length + 1;
export const TOTAL_COST_SLOT = COST_MEMBERS.length - 1;
export const WASTED_COST_SLOT = COST_MEMBERS.length + 1;

/** Member of a total and its place in `Sums`. */
export type TotalMember =
  | { readonly name: string; readonly kind: "count" | "cost"; readonly slot: number }
  | { readonly name: string; readonly kind: "cost per trace" | "partial" };

/** The members of totals, except latencies. */
export function totalMembers(of: Subject, withCosts: boolean): readonly TotalMember[] {
  const from = (first: number, kind: "count" | "cost", names: readonly string[]): readonly TotalMember[] =>
    names.map((name, place) => ({ name, kind, slot: first + place }));
  const ofTraces = of === "traces";
  return [
    ...from(0, "count", COUNT_MEMBERS),
    ...(ofTraces ? from(TRACES_SLOT, "count", TRACE_COUNT_MEMBERS) : []),
    ...(withCosts ? from(0, "cost", [...COST_MEMBERS, STATED_COST_MEMBER]) : []),
    ...(withCosts ? from(COUNT_MEMBERS.length, "count", [CALLS_STATED_MEMBER]) : []),
    ...(withCosts ? [{ name: PARTIAL_MEMBER, kind: "partial" } as const] : []),
    ...(withCosts && ofTraces ? from(WASTED_COST_SLOT, "cost", [WASTED_COST_MEMBER]) : []),
    ...(withCosts && ofTraces ? [{ name: COST_PER_TRACE_MEMBER, kind: "cost per trace" } as const] : []),
  ];
}
