import { latencyNames, latencyQuery, type LatencySpec } from "./latency.ts";
import { CALLS_STATED_MEMBER, COST_MEMBERS, COUNT_MEMBERS, STATED_COST_MEMBER } from "./members.ts";

/** Sort key and direction of groups. */
export type Order =
  | { readonly kind: "count" | "cost"; readonly slot: number }
  | { readonly kind: "latency"; readonly name: string };

export interface RequestedOrder {
  readonly order_by?: string | null | undefined;
  readonly include_costs: boolean;
  readonly latency?: LatencySpec | null | undefined;
}

const LATENCY = "latency_ms.";

/** Sort keys of groups: the requested members of the totals. */
export function orders({ include_costs, latency }: RequestedOrder): ReadonlyMap<string, Order> {
  const requested = latencyQuery(latency);
  const counts = COUNT_MEMBERS.map((name, slot) => [name, { kind: "count", slot }] as const);
  const costs = [
    ...[...COST_MEMBERS, STATED_COST_MEMBER].map((name, slot) => [name, { kind: "cost", slot }] as const),
    [CALLS_STATED_MEMBER, { kind: "count", slot: COUNT_MEMBERS.length }] as const,
  ];
  const latencies = requested === undefined ? [] : latencyNames(requested);
  return new Map<string, Order>([
    ...counts,
    ...(include_costs ? costs : []),
    ...latencies.map((name) => [LATENCY + name, { kind: "latency", name }] as const),
  ]);
}

/** Parses an `order_by` that is one of `orders`. */
export function orderOf(request: RequestedOrder): Order {
  const name = request.order_by ?? (request.include_costs ? "total_cost" : "total_tokens");
  return orders(request).get(name)!;
}
