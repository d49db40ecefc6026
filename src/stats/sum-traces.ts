import type { PriceBook } from "../prices/price-book.ts";
import type { Project } from "../shared/project.ts";
import type { Engine } from "../store/engine.ts";
import type { GroupsPlan, PlanSettings } from "./plan/plan-stats.ts";
import type { UsageStatsRequest } from "./schema.ts";
import type { WindowLimits } from "./read/read-window.ts";
import type { StatsFold } from "./sums/stats-fold.ts";
import type { ProviderOf } from "./sums/window-fold.ts";

export interface SumTracesDeps extends WindowLimits {
  readonly engine: Engine;
  readonly maxAggregates: number;
  readonly bookFor: (project: Project) => Promise<PriceBook>;
  readonly providerOf: ProviderOf;
}

export interface TracesToSum extends Pick<
  UsageStatsRequest,
  "start" | "end" | "filter" | "query" | "any_call"
> {
  readonly project: Project;
  readonly groups: GroupsPlan;
}

/** Sums whole traces by the group and bucket of their roots. Errors: validation; `StorageError`; too_many_calls. */
export type SumTraces = (
  deps: SumTracesDeps,
  requested: TracesToSum,
  settings: PlanSettings,
) => Promise<StatsFold>;
