import type { Steps } from "../../shared/steps.ts";
import { eachOwnUsage } from "../../trace-usage/fold/own-usage.ts";
import type { CostOf } from "../../prices/cost-of-call.ts";
import type { CallTable } from "../../trace-usage/table/call-table.ts";
import type { LlmDictionary } from "../../trace-usage/table/llm-dictionary.ts";
import { AppError } from "../../shared/errors.ts";
import type { Usage } from "../../usage/usage.ts";
import { bucketFinder } from "../sums/bucket-finder.ts";
import type { CallColumns } from "../read/call-columns.ts";
import { MetricRows } from "./metric-rows.ts";
import { usageValue } from "./metrics.ts";
import type { CallsStatsPlan } from "./plan.ts";

interface FoldOptions {
  readonly plan: CallsStatsPlan;
  readonly names: LlmDictionary;
  readonly costOf: CostOf | undefined;
  readonly maxAggregates: number;
}

/** Calls of a window by bucket, and their own usage by bucket and model. */
export class CallsFold {
  readonly usage: readonly MetricRows[];
  readonly calls: readonly MetricRows[];
  /** Models in order of appearance. A row of `usage` is model index × buckets + bucket. */
  readonly models: string[] = [];
  readonly usageCounts: number[] = [];
  readonly callCounts: number[] = [];
  private readonly modelOf = new Map<string, number>();
  private readonly options: FoldOptions;
  private readonly bucketAt: (us: number) => number;

  constructor(options: FoldOptions) {
    const { usageMetrics, callMetrics, buckets } = options.plan;
    const metrics = usageMetrics.length + callMetrics.length;
    this.options = options;
    this.usage = usageMetrics.map((query) => new MetricRows(query, metrics));
    this.calls = callMetrics.map((query) => new MetricRows(query, metrics));
    this.bucketAt = bucketFinder(buckets.startsUs);
  }

  add(calls: CallTable, columns: CallColumns): Steps<void> {
    return eachOwnUsage({ calls, names: this.options.names }, (call, usages) => {
      const startedAtUs = calls.startedAtUs[call]!;
      const bucket = this.bucketAt(startedAtUs);
      this.addCall(bucket, columns, call);
      for (const usage of usages) this.addUsage(bucket, usage, startedAtUs);
    });
  }

  private addCall(bucket: number, columns: CallColumns, call: number): void {
    this.callCounts[bucket] = (this.callCounts[bucket] ?? 0) + 1;
    for (const [index, { metric }] of this.options.plan.callMetrics.entries()) {
      const value = {
        call_count: 1,
        error_count: Number(columns.isError(call)),
        latency_ms: columns.latencyOf(call) ?? null,
      }[metric];
      this.calls[index]!.add(bucket, value);
    }
  }

  private addUsage(bucket: number, usage: Usage, startedAtUs: number): void {
    const { plan, costOf } = this.options;
    const row = this.numberOf(usage.llm) * plan.buckets.startsUs.length + bucket;
    this.usageCounts[row] = (this.usageCounts[row] ?? 0) + 1;
    const cost = costOf?.(usage, startedAtUs);
    for (const [index, { metric }] of plan.usageMetrics.entries())
      this.usage[index]!.add(row, usageValue(metric, usage, cost));
  }

  private numberOf(llm: string): number {
    const known = this.modelOf.get(llm);
    if (known !== undefined) return known;
    const { plan, maxAggregates } = this.options;
    if ((this.models.length + 1) * plan.buckets.startsUs.length > maxAggregates) {
      throw new AppError(
        "too_many_calls",
        `More than ${maxAggregates} models × buckets. Use a larger granularity or a shorter window.`,
      );
    }
    const model = this.models.push(llm) - 1;
    this.modelOf.set(llm, model);
    return model;
  }
}
