import { bucketsOf, type BucketedWindow } from "../../http/schemas/window-fields.ts";
import { rollupQueryOf, type RollupQuery } from "../../usage-rollup/rollup-query.ts";
import type { SelectionLimits } from "../../query/index.ts";
import { planCalls, type CallsPlan } from "../../trace-usage/plan.ts";
import { hourOf } from "../../shared/instant.ts";
import type { Project } from "../../shared/project.ts";
import type { Dimensions } from "./dimensions.ts";
import { latencyQuery, type LatencySpec } from "./latency.ts";
import type { Subject } from "./members.ts";
import { orderOf, type Order } from "./order.ts";
import type { UsageStatsRequest } from "../schema.ts";

/** Query for calls: the selection and the columns read. */
export interface WindowPlan extends BucketedWindow {
  readonly selection: CallsPlan;
  readonly dimensions: Dimensions;
  readonly withCosts: boolean;
  readonly latency: LatencySpec | undefined;
}

/** Window, groups and totals of a response. */
export interface GroupsPlan extends BucketedWindow {
  readonly of: Subject;
  readonly dimensions: Dimensions;
  readonly withCosts: boolean;
  readonly latency: LatencySpec | undefined;
  readonly order: Order;
  /** Number of groups listed; the rest is `other`. */
  readonly maxGroups: number;
}

/** Plan of a query over calls, made before any read. */
export interface StatsPlan extends WindowPlan, GroupsPlan {
  /** Query for the usage rollup; undefined if it cannot answer. */
  readonly rollupQuery: RollupQuery | undefined;
}

export interface PlanSettings {
  readonly selectionLimits: SelectionLimits;
  readonly nowMs: number;
}

/** Plans the response. Errors: validation. */
export function planGroups(request: UsageStatsRequest, { nowMs }: PlanSettings): GroupsPlan {
  return {
    ...bucketsOf(request, nowMs),
    of: request.of,
    dimensions: request.group_by,
    withCosts: request.include_costs,
    latency: latencyQuery(request.latency),
    order: orderOf(request),
    maxGroups: request.limit,
  };
}

/** Plans a query over calls. Errors: validation. */
export function planStats(
  project: Project,
  request: UsageStatsRequest,
  groups: GroupsPlan,
  settings: PlanSettings,
): StatsPlan {
  const { window, latency } = groups;
  const requested = { filter: request.filter, query: request.query, window };
  return {
    ...groups,
    selection: planCalls(project, requested, settings.selectionLimits),
    rollupQuery: isRunning(window.startUs, settings.nowMs)
      ? undefined
      : rollupQueryOf({
          filter: request.filter,
          query: request.query,
          fields: request.group_by.all.flatMap(({ source, field }) => (source === "call" ? [field] : [])),
          latencies: latency === undefined ? "none" : latency.percentiles.length > 0 ? "each" : "sums",
        }),
  };
}

/** True for instants in the current hour, which the usage rollup does not cover. */
function isRunning(startUs: number, nowMs: number): boolean {
  return hourOf(startUs) >= hourOf(nowMs * 1000);
}
