import type { CallCost } from "../../prices/cost-fields.ts";
import type { Counts } from "../../usage/count-fields.ts";

export const AGGREGATIONS = ["sum", "avg", "min", "max", "count", "count_true", "count_false"] as const;
export type Aggregation = (typeof AGGREGATIONS)[number];

/** Usage counts by the names of the Weave SDKs. */
const tokenMetrics = {
  input_tokens: (counts) => counts.promptTokens,
  output_tokens: (counts) => counts.completionTokens,
  total_tokens: (counts) => counts.totalTokens,
  cache_read_input_tokens: (counts) => counts.cacheReadTokens,
  cache_creation_input_tokens: (counts) => counts.cacheCreationTokens,
} as const satisfies Record<string, (counts: Counts) => number>;

/** Costs in picodollars of input, cached or not, and output; null without a price. */
const costMetrics = {
  input_cost: ({ prompt, cacheRead, cacheCreation }) => known([prompt, cacheRead, cacheCreation]),
  output_cost: ({ completion }) => completion,
  total_cost: ({ prompt, completion, cacheRead, cacheCreation, other }) =>
    known([prompt, completion, cacheRead, cacheCreation, other]),
} as const satisfies Record<string, (cost: CallCost) => number | null>;

type TokenMetric = keyof typeof tokenMetrics;
type CostMetric = keyof typeof costMetrics;
export type UsageMetric = TokenMetric | CostMetric;
export const USAGE_METRICS = [...Object.keys(tokenMetrics), ...Object.keys(costMetrics)] as [
  UsageMetric,
  ...UsageMetric[],
];
export const CALL_METRICS = ["latency_ms", "call_count", "error_count"] as const;
export type CallMetric = (typeof CALL_METRICS)[number];

export function isCost(metric: string): metric is CostMetric {
  return metric in costMetrics;
}

/** Returns the value of a metric; null without a price. */
export function usageValue(metric: UsageMetric, counts: Counts, cost: CallCost | undefined): number | null {
  if (!isCost(metric)) return tokenMetrics[metric](counts);
  return cost === undefined ? null : costMetrics[metric](cost);
}

function known(costs: readonly (number | null)[]): number | null {
  const some = costs.filter((cost) => cost !== null);
  return some.length === 0 ? null : some.reduce((sum, cost) => sum + cost, 0);
}

/** Requested aggregations of a metric. */
export interface MetricQuery<Name extends string> {
  readonly metric: Name;
  readonly aggregations: readonly Aggregation[];
  /** 0 to 100. */
  readonly percentiles: readonly number[];
}

/** Merges requests for the same metric, each aggregate once; the default is the sum. */
export function mergeQueries<Name extends string>(
  requested: readonly MetricQuery<Name>[],
): readonly MetricQuery<Name>[] {
  return [...Map.groupBy(requested, ({ metric }) => metric)].map(([metric, same]) => {
    const aggregations = [
      ...new Set(
        same.flatMap((one) =>
          one.aggregations.length + one.percentiles.length === 0 ? ["sum" as const] : one.aggregations,
        ),
      ),
    ];
    return { metric, aggregations, percentiles: [...new Set(same.flatMap((one) => one.percentiles))] };
  });
}
