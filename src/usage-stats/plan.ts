import { bucketsOf, type BucketedWindow } from "../http/schemas/window-fields.ts";
import type { SelectionLimits } from "../query/index.ts";
import { planSelection } from "../rollup/plan.ts";
import type { Selection } from "../rollup/selection.ts";
import { invalid } from "../shared/errors.ts";
import { hourOf } from "../shared/instant.ts";
import type { Project } from "../shared/project.ts";
import { planDimensions, type Dimensions } from "./dimensions.ts";
import { ledgerQuestion, type LedgerQuestion } from "./ledger/question.ts";
import { latencyNames, type LatencyQuestion } from "./latency.ts";
import { COST_MEMBERS, COUNT_MEMBERS } from "./members.ts";
import type { UsageStatsRequest } from "./schema.ts";

/** Which calls are read, and what of them. */
export interface WindowPlan extends BucketedWindow {
  readonly selection: Selection;
  readonly dimensions: Dimensions;
  readonly withCosts: boolean;
  readonly latency: LatencyQuestion | undefined;
}

/** Everything that is decided before the store is asked. */
export interface StatsPlan extends WindowPlan {
  readonly order: Order;
  /** How many groups are shown by themselves. */
  readonly maxGroups: number;
  /** What is asked of the ledger; undefined if it cannot tell. */
  readonly ledger: LedgerQuestion | undefined;
}

/** Which number of a total decides. */
export type Order =
  | { readonly kind: "count" | "cost"; readonly slot: number }
  | { readonly kind: "latency"; readonly name: string };

export interface PlanSettings {
  readonly selectionLimits: SelectionLimits;
  readonly maxCalls: number;
  readonly nowMs: number;
}

/** Errors: validation. */
export function planStats(project: Project, request: UsageStatsRequest, settings: PlanSettings): StatsPlan {
  const bucketed = bucketsOf(request, settings.nowMs);
  const latency = latencyQuestion(request.latency);
  const selection = planSelection(
    project,
    { filter: request.filter, query: request.query, limit: settings.maxCalls, window: bucketed.window },
    settings.selectionLimits,
  );
  const dimensions = planDimensions(request.group_by);
  return {
    ...bucketed,
    selection,
    dimensions,
    withCosts: request.include_costs,
    latency,
    order: planOrder(request, latency),
    maxGroups: request.limit,
    ledger: isRunning(bucketed.window.startMs, settings.nowMs)
      ? undefined
      : ledgerQuestion({ filter: request.filter, query: request.query, dimensions, latency }),
  };
}

/** Whether what starts then starts in the hour that is running, which the ledger does not have. */
function isRunning(startMs: number, nowMs: number): boolean {
  return hourOf(startMs * 1000) >= hourOf(nowMs * 1000);
}

function latencyQuestion(asked: UsageStatsRequest["latency"]): LatencyQuestion | undefined {
  if (asked == null) return undefined;
  const aggregations = [...new Set(asked.aggregations)];
  const percentiles = [...new Set(asked.percentiles)];
  const isEmpty = aggregations.length === 0 && percentiles.length === 0;
  return isEmpty ? { aggregations: ["avg", "max"], percentiles } : { aggregations, percentiles };
}

const LATENCY = "latency_ms.";

function planOrder(
  { order_by, include_costs }: UsageStatsRequest,
  latency: LatencyQuestion | undefined,
): Order {
  const name = order_by ?? (include_costs ? "total_cost" : "total_tokens");
  const counts: readonly string[] = COUNT_MEMBERS;
  const costs: readonly string[] = include_costs ? COST_MEMBERS : [];
  const latencies = latency === undefined ? [] : latencyNames(latency).map((one) => LATENCY + one);
  if (counts.includes(name)) return { kind: "count", slot: counts.indexOf(name) };
  if (costs.includes(name)) return { kind: "cost", slot: costs.indexOf(name) };
  if (latencies.includes(name)) return { kind: "latency", name: name.slice(LATENCY.length) };
  const msg = `Input should be a member of a total: ${[...counts, ...costs, ...latencies].join(", ")}`;
  throw invalid([{ loc: ["body", "order_by"], msg, type: "literal_error" }]);
}
