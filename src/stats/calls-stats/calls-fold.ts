import { ownUsage } from "../../rollup/fold/own-usage.ts";
import type { CostOf } from "../../prices/cost-of-call.ts";
import { usageOf } from "../../rollup/fold/usage-of.ts";
import { isSelected, usageStartOf, type CallTable } from "../../rollup/table/call-table.ts";
import type { LlmNames } from "../../rollup/table/llm-names.ts";
import { release } from "../../shared/buffers.ts";
import { AppError } from "../../shared/errors.ts";
import { isNothing } from "../../usage/usage.ts";
import { COUNT_SLOTS } from "../../usage/count-fields.ts";
import { bucketFinder } from "../sums/bucket-finder.ts";
import type { CallColumns } from "../read/call-columns.ts";
import { MetricRows } from "./metric-rows.ts";
import { usageValue } from "./metrics.ts";
import type { CallsStatsPlan } from "./plan.ts";

interface FoldOptions {
  readonly plan: CallsStatsPlan;
  readonly names: LlmNames;
  readonly costOf: CostOf | undefined;
  readonly maxCells: number;
}

/** The calls of a window by bucket, and what they themselves used by bucket and model. */
export class CallsFold {
  readonly usage: readonly MetricRows[];
  readonly calls: readonly MetricRows[];
  /** The models in the order in which they were met. A row of `usage` is a model's number × buckets + a bucket. */
  readonly models: string[] = [];
  readonly usageCounts: number[] = [];
  readonly callCounts: number[] = [];
  private readonly modelOf = new Map<number, number>();
  private readonly options: FoldOptions;
  private readonly bucketAt: (us: number) => number;

  constructor(options: FoldOptions) {
    const { usageMetrics, callMetrics, buckets } = options.plan;
    const metrics = usageMetrics.length + callMetrics.length;
    this.options = options;
    this.usage = usageMetrics.map((question) => new MetricRows(question, metrics));
    this.calls = callMetrics.map((question) => new MetricRows(question, metrics));
    this.bucketAt = bucketFinder(buckets.startsUs);
  }

  add(calls: CallTable, columns: CallColumns): void {
    const own = ownUsage(calls, this.options.names);
    for (let call = 0; call < calls.count; call++) {
      if (!isSelected(calls, call)) continue;
      const startedAtUs = calls.startedAtUs[call]!;
      const bucket = this.bucketAt(startedAtUs);
      this.addCall(bucket, columns, call);
      for (let used = usageStartOf(calls, call); used < calls.usageEnd[call]!; used++) {
        const at = used * COUNT_SLOTS;
        const usage = usageOf(used, { ...own, at, units: own.units.get(used) }, { calls, ...this.options });
        if (!isNothing(usage)) this.addUsage(calls.usage.llms[used]!, bucket, { usage, startedAtUs });
      }
    }
    if (own.counts !== calls.usage.counts) release(own.counts);
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

  private addUsage(
    llm: number,
    bucket: number,
    { usage, startedAtUs }: { usage: ReturnType<typeof usageOf>; startedAtUs: number },
  ): void {
    const { plan, costOf } = this.options;
    const row = this.numberOf(llm) * plan.buckets.startsUs.length + bucket;
    this.usageCounts[row] = (this.usageCounts[row] ?? 0) + 1;
    const cost = costOf?.(usage, startedAtUs);
    for (const [index, { metric }] of plan.usageMetrics.entries())
      this.usage[index]!.add(row, usageValue(metric, usage, cost));
  }

  private numberOf(llm: number): number {
    const known = this.modelOf.get(llm);
    if (known !== undefined) return known;
    const { plan, names, maxCells } = this.options;
    if ((this.models.length + 1) * plan.buckets.startsUs.length > maxCells) {
      throw new AppError(
        "too_many_calls",
        `The question has more than ${maxCells} models in buckets. Ask for a larger granularity or a shorter window, or raise MAX_STATS_CELLS.`,
      );
    }
    const model = this.models.push(names.textOf(llm)) - 1;
    this.modelOf.set(llm, model);
    return model;
  }
}
