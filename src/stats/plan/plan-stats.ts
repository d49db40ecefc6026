import { bucketsOf, type BucketedWindow } from "../../http/schemas/window-fields.ts";
import type { TotalParts } from "../../usage-rollup/total-members.ts";
import type { UsageStatsRequest } from "../schema.ts";
import type { Dimensions } from "./dimensions.ts";
import { latencyQuery, type LatencySpec, orderOf, type Order } from "./order.ts";

/** Window, groups and totals of a response. */
export interface StatsPlan extends BucketedWindow, TotalParts {
  readonly dimensions: Dimensions;
  readonly latency: LatencySpec | undefined;
  readonly order: Order;
  /** Number of groups listed; the rest is `other`. */
  readonly maxGroups: number;
}

/** Plans the response. Errors: validation. */
export function planStats(request: UsageStatsRequest, nowMs: number): StatsPlan {
  return {
    ...bucketsOf(request, nowMs),
    of: request.of,
    dimensions: request.group_by,
    withCosts: request.include_costs,
    withOutcome: request.outcome != null,
    latency: latencyQuery(request.latency),
    order: orderOf(request),
    maxGroups: request.limit,
  };
}
