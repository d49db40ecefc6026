import type { Engine } from "../store/engine.ts";
import { type SelectedTrace, hoursOfWindow, type CallsPlan } from "../trace-usage/plan.ts";
import { countTraces } from "../trace-usage/read/traces-of-calls.ts";
import { type PricedSum, pricedSums } from "./priced-sums.ts";
import { divideTraces } from "./divide-traces.ts";
import { planAggregation } from "./plan-aggregation.ts";
import type { OwnUsageQuery } from "./rollup-query.ts";
import { sumAll } from "./sum-records.ts";

/** Own usage of a window's calls: every trace is either in the sums or uncovered. */
interface WindowUsage {
  readonly sums: Iterable<PricedSum>;
  /** Traces to read at query time. */
  readonly uncoveredTraces: readonly SelectedTrace[];
}

/** Reads a window's usage from the rollup, and the traces it does not cover. `calls`: those that started in the window. */
export async function readOwnUsage(
  engine: Engine,
  calls: CallsPlan,
  requested: OwnUsageQuery,
  signal: AbortSignal,
): Promise<WindowUsage> {
  const { project, window } = requested;
  const { ofRecords, ofCalls } = await divideTraces(
    { engine, project, signal },
    {
      started: hoursOfWindow(window),
      margin: 0,
      readRecords: async (manifests) => {
        const plans = planAggregation(requested, manifests);
        return plans === undefined ? "unable" : sumAll(engine, plans, signal);
      },
      readCalls: async (where) =>
        where === undefined
          ? []
          : countTraces(engine, calls, where === "all" ? calls.whereTraces : where, signal),
    },
  );
  return {
    sums: ofRecords === undefined ? [] : pricedSums(ofRecords, requested),
    uncoveredTraces: ofCalls,
  };
}
