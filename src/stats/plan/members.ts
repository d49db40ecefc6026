import { costFields } from "../../prices/cost-fields.ts";
import { countFields } from "../../usage/count-fields.ts";

/** What a query sums: each call in the groups and buckets of its own, or each trace in those of its root. */
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
  const counts = COUNT_MEMBERS.map((name, slot) => ({ name, kind: "count", slot }) as const);
  const ofTraces = TRACE_COUNT_MEMBERS.map(
    (name, place) => ({ name, kind: "count", slot: TRACES_SLOT + place }) as const,
  );
  const costs = [...COST_MEMBERS, STATED_COST_MEMBER].map(
    (name, slot) => ({ name, kind: "cost", slot }) as const,
  );
  const perTrace = [
    { name: WASTED_COST_MEMBER, kind: "cost", slot: WASTED_COST_SLOT },
    { name: COST_PER_TRACE_MEMBER, kind: "cost per trace" },
  ] as const;
  const isOfTraces = of === "traces";
  return [
    ...counts,
    ...(isOfTraces ? ofTraces : []),
    ...(withCosts
      ? [
          ...costs,
          { name: CALLS_STATED_MEMBER, kind: "count", slot: COUNT_MEMBERS.length } as const,
          { name: PARTIAL_MEMBER, kind: "partial" } as const,
        ]
      : []),
    ...(withCosts && isOfTraces ? perTrace : []),
  ];
}
