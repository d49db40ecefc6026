import type { Engine } from "../store/engine.ts";
import type { SelectedTrace } from "../trace-usage/plan.ts";
import { hoursOfWindow } from "../trace-usage/plan.ts";
import { countTraces } from "../trace-usage/read/traces-of-calls.ts";
import type { UsageAggregate } from "./aggregate.ts";
import { divideTraces } from "./divide-traces.ts";
import { planAggregation } from "./plan-aggregation.ts";
import { aggregatesOf } from "./price-sums.ts";
import type { OwnUsageQuery } from "./rollup-query.ts";
import { readSnapshot } from "./snapshot.ts";
import { sumAll } from "./sum-records.ts";

/** Own usage of a window's calls: every trace is either in the aggregates or uncovered. */
export interface WindowUsage {
  readonly aggregates: Iterable<UsageAggregate>;
  /** Traces to aggregate at query time. */
  readonly uncoveredTraces: readonly SelectedTrace[];
}

/** Reads a window's usage from the rollup, and the traces it does not cover. */
export async function readOwnUsage(
  engine: Engine,
  requested: OwnUsageQuery,
  signal: AbortSignal,
): Promise<WindowUsage> {
  const { selection, window } = requested;
  const { project } = selection;
  const { ofRecords, ofCalls } = await divideTraces({
    project,
    readSnapshot: () => readSnapshot(engine, project, hoursOfWindow(window), signal),
    readRecords: async (manifests) => {
      const plans = planAggregation(requested, manifests);
      return plans === undefined ? "unable" : sumAll(engine, plans, signal);
    },
    readCalls: async (where) =>
      where === undefined
        ? []
        : countTraces(engine, selection, where === "all" ? selection.whereTraces : where, signal),
  });
  return {
    aggregates: ofRecords === undefined ? [] : aggregatesOf(ofRecords, requested),
    uncoveredTraces: ofCalls,
  };
}
