import type { LatencySums } from "../../usage-rollup/sum-records.ts";
import { totalMembers, type Subject, type TotalMember } from "../../usage-rollup/total-members.ts";

export const LATENCY_AGGREGATIONS = ["avg", "min", "max", "sum", "count"] as const;
type LatencyAggregation = (typeof LATENCY_AGGREGATIONS)[number];

/** Requested aggregations and percentiles of latency. */
export interface LatencySpec {
  readonly aggregations: readonly LatencyAggregation[];
  /** 0 to 100. */
  readonly percentiles: readonly number[];
}

/** Removes duplicates. Default: `avg` and `max`. */
export function latencyQuery(requested: LatencySpec | null | undefined): LatencySpec | undefined {
  if (requested == null) return undefined;
  const aggregations = [...new Set(requested.aggregations)];
  const percentiles = [...new Set(requested.percentiles)];
  const isEmpty = aggregations.length === 0 && percentiles.length === 0;
  return isEmpty ? { aggregations: ["avg", "max"], percentiles } : { aggregations, percentiles };
}

/** Returns the names of the members in response order: `avg`, `p95`. */
export function latencyNames({ aggregations, percentiles }: LatencySpec): readonly string[] {
  return [...aggregations, ...percentiles.map((percentile) => `p${percentile}`)];
}

/** Value without calls: 0 for `sum` and `count`, else null. */
export function latencyOf(name: LatencyAggregation, { count, sum, min, max }: LatencySums): number | null {
  if (name === "count") return count;
  if (name === "sum") return sum;
  if (count === 0) return null;
  return { avg: sum / count, min, max }[name];
}

/** Sort key and direction of groups. */
export type Order =
  | Exclude<TotalMember, { readonly kind: "partial" }>
  | { readonly kind: "latency"; readonly name: string };

export interface RequestedOrder {
  readonly of: Subject;
  readonly order_by?: string | null | undefined;
  readonly include_costs: boolean;
  readonly outcome?: object | null | undefined;
  readonly latency?: LatencySpec | null | undefined;
}

const LATENCY = "latency_ms.";

/** Sort keys of groups: the requested members of the totals. */
export function orders({ of, include_costs, outcome, latency }: RequestedOrder): ReadonlyMap<string, Order> {
  const requested = latencyQuery(latency);
  const latencies = requested === undefined ? [] : latencyNames(requested);
  return new Map<string, Order>([
    ...totalMembers({ of, withCosts: include_costs, withOutcome: outcome != null }).flatMap((member) =>
      member.kind === "partial" ? [] : [[member.name, member] as const],
    ),
    ...latencies.map((name) => [LATENCY + name, { kind: "latency", name }] as const),
  ]);
}

/** Parses an `order_by` that is one of `orders`. */
export function orderOf(request: RequestedOrder): Order {
  const name = request.order_by ?? (request.include_costs ? "total_cost" : "total_tokens");
  return orders(request).get(name)!;
}
