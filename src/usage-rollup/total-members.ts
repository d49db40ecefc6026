import { costFields } from "../prices/cost-fields.ts";
import { countFields } from "../usage/count-fields.ts";

/** A query sums calls by their own fields and start, or whole traces by those of their roots. */
export const SUBJECTS = ["calls", "traces"] as const;
export type Subject = (typeof SUBJECTS)[number];

/** Members of a total, in response order. */
export const COUNT_MEMBERS = ["calls", "errors", ...countFields.map(({ wire }) => wire)] as const;
export const COST_MEMBERS = [...costFields.map(({ wire }) => wire), "total_cost"] as const;
/** Counts of traces. */
export const TRACE_COUNT_MEMBERS = ["traces", "traces_failed", "traces_with_failures"] as const;

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
    ...(withCosts ? from(0, "cost", [...COST_MEMBERS, "stated_cost"]) : []),
    ...(withCosts ? from(COUNT_MEMBERS.length, "count", ["calls_stated"]) : []),
    ...(withCosts ? [{ name: "partial", kind: "partial" } as const] : []),
    ...(withCosts && ofTraces ? from(WASTED_COST_SLOT, "cost", ["wasted_cost"]) : []),
    ...(withCosts && ofTraces ? [{ name: "cost_per_trace", kind: "cost per trace" } as const] : []),
  ];
}
