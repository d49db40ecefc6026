import { latencyNames, latencyQuery, type LatencySpec } from "./latency.ts";
import { COST_MEMBERS, COUNT_MEMBERS } from "./members.ts";

/** Which number of a total decides. */
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
  const asked = latencyQuery(latency);
  const counts = COUNT_MEMBERS.map((name, slot) => [name, { kind: "count", slot }] as const);
  const costs = COST_MEMBERS.map((name, slot) => [name, { kind: "cost", slot }] as const);
  const latencies = asked === undefined ? [] : latencyNames(asked);
  return new Map<string, Order>([
    ...counts,
    ...(include_costs ? costs : []),
    ...latencies.map((name) => [LATENCY + name, { kind: "latency", name }] as const),
  ]);
}

/** The order of a request whose `order_by` is one of `orders`. */
export function orderOf(request: RequestedOrder): Order {
  const name = request.order_by ?? (request.include_costs ? "total_cost" : "total_tokens");
  return orders(request).get(name)!;
}
