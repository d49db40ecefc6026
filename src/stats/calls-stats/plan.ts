import { bucketsOf } from "../../http/schemas/window-fields.ts";
import { planCalls } from "../../trace-usage/plan.ts";
import type { Project } from "../../shared/project.ts";
import { NO_DIMENSIONS } from "../plan/dimensions.ts";
import type { PlanSettings, WindowPlan } from "../plan/plan-stats.ts";
import { isCost, mergeQueries, type CallMetric, type MetricQuery, type UsageMetric } from "./metrics.ts";
import type { CallsStatsRequest } from "./schema.ts";

/** Plan of a query, made before any read. */
export interface CallsStatsPlan extends WindowPlan {
  readonly usageMetrics: readonly MetricQuery<UsageMetric>[];
  readonly callMetrics: readonly MetricQuery<CallMetric>[];
}

/** Plans a query. Errors: validation. */
export function planCallsStats(
  project: Project,
  { filter, usage_metrics, call_metrics, ...request }: CallsStatsRequest,
  { selectionLimits, nowMs }: PlanSettings,
): CallsStatsPlan {
  const bucketed = bucketsOf(request, nowMs);
  const requested = { filter, window: bucketed.window };
  const usageMetrics = mergeQueries(usage_metrics);
  const callMetrics = mergeQueries(call_metrics);
  return {
    ...bucketed,
    selection: planCalls(project, requested, selectionLimits),
    dimensions: NO_DIMENSIONS,
    withCosts: usageMetrics.some(({ metric }) => isCost(metric)),
    latency: callMetrics.some(({ metric }) => metric === "latency_ms")
      ? { aggregations: [], percentiles: [] }
      : undefined,
    usageMetrics,
    callMetrics,
  };
}
