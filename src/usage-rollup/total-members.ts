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
/** Counts of rated calls or traces. */
const RATED_MEMBERS = ["rated", "passed"] as const;
/** Place of the first of them in `Sums`, behind the counts of what has no price. */
export const RATED_SLOT = TRACES_SLOT + TRACE_COUNT_MEMBERS.length + 2;
export const PASSED_SLOT = RATED_SLOT + 1;

/** Member of a total and its place in `Sums`. */
export type TotalMember =
  | { readonly name: string; readonly kind: "count"; readonly slot: number }
  | { readonly name: string; readonly kind: "cost"; readonly slot: number }
  | { readonly name: string; readonly kind: "partial" }
  | { readonly name: string; readonly kind: "cost per trace" | "cost per passed" };

/** Parts of totals that a request adds. */
export interface TotalParts {
  readonly of: Subject;
  readonly withCosts: boolean;
  readonly withOutcome: boolean;
}

/** The members of totals, except latencies. */
export function totalMembers({ of, withCosts, withOutcome }: TotalParts): readonly TotalMember[] {
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
    ...(withOutcome ? from(RATED_SLOT, "count", RATED_MEMBERS) : []),
    ...(withOutcome && withCosts ? [{ name: "cost_per_passed", kind: "cost per passed" } as const] : []),
  ];
}
