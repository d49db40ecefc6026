import type { LatencySums } from "../../usage-rollup/aggregate.ts";
import type { GroupsPlan } from "../plan/plan-stats.ts";
import { AggregateTable } from "./aggregates.ts";
import { AggregateValues, MAX_VALUES } from "./aggregate-values.ts";
import { bucketFinder } from "./bucket-finder.ts";
import { Groups } from "./groups.ts";
import type { Unpriced } from "./unpriced.ts";

/** Sums of a window by group and bucket. */
export class StatsFold {
  readonly groups: Groups;
  readonly aggregates: AggregateTable;
  readonly unpriced: Unpriced;
  protected readonly bucketAt: (us: number) => number;

  constructor(
    { dimensions, buckets, latency, withCosts }: GroupsPlan,
    unpriced: Unpriced,
    maxAggregates: number,
  ) {
    this.groups = new Groups(dimensions.all);
    this.unpriced = unpriced;
    this.bucketAt = bucketFinder(buckets.startsUs);
    this.aggregates = new AggregateTable({
      buckets: buckets.startsUs.length,
      maxAggregates,
      withCosts,
      latencies: latency?.percentiles.length ? new AggregateValues(MAX_VALUES) : undefined,
    });
  }

  /** `each`: every latency if percentiles are requested. */
  protected addLatencies(aggregate: number, sums: LatencySums, each: readonly number[]): void {
    if (sums.count > 0) this.aggregates.sums.addLatencies(aggregate, sums);
    for (const ms of each) this.aggregates.latencies?.add(aggregate, ms);
  }
}
