import { latencyNames, latencyQuery, type LatencySpec } from "./latency.ts";
import { totalMembers, type Subject, type TotalMember } from "../../usage-rollup/total-members.ts";

/** Sort key and direction of groups. */
export type Order =
  | Exclude<TotalMember, { readonly kind: "partial" }>
  | { readonly kind: "latency"; readonly name: string };

export interface RequestedOrder {
  readonly of: Subject;
  readonly order_by?: string | null | undefined;
  readonly include_costs: boolean;
  readonly latency?: LatencySpec | null | undefined;
}

const LATENCY = "latency_ms.";

/** Sort keys of groups: the requested members of the totals. */
export function orders({ of, include_costs, latency }: RequestedOrder): ReadonlyMap<string, Order> {
  const requested = latencyQuery(latency);
  const latencies = requested === undefined ? [] : latencyNames(requested);
  return new Map<string, Order>([
    ...totalMembers(of, include_costs).flatMap((member) =>
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
