import type { GroupsPlan } from "../../stats/plan/plan-stats.ts";
import { AggregateTable } from "../../stats/sums/aggregates.ts";
import { AggregateValues, MAX_VALUES } from "../../stats/sums/aggregate-values.ts";
import { bucketFinder } from "../../stats/sums/bucket-finder.ts";
import { Groups } from "../../stats/sums/groups.ts";
import type { StatsFold } from "../../stats/sums/stats-fold.ts";
import type { Unpriced } from "../../stats/sums/unpriced.ts";
import type { LatencySums } from "../../usage-rollup/aggregate.ts";
import type { FoldedTrace } from "../read/select-traces.ts";
import type { TraceSums } from "../read/trace-sums.ts";
import type { RecordGroup } from "./group-records.ts";

/** Sums of traces by the group and bucket of their roots. */
export class TraceGroups implements StatsFold {
  readonly groups: Groups;
  readonly aggregates: AggregateTable;
  readonly unpriced: Unpriced;
  private readonly folded: TraceSums;
  private readonly bucketAt: (us: number) => number;

  constructor(
    { dimensions, buckets, latency, withCosts }: GroupsPlan,
    folded: TraceSums,
    maxAggregates: number,
  ) {
    this.groups = new Groups(dimensions.all);
    this.folded = folded;
    this.unpriced = folded.unpriced;
    this.bucketAt = bucketFinder(buckets.startsUs);
    this.aggregates = new AggregateTable({
      buckets: buckets.startsUs.length,
      maxAggregates,
      withCosts,
      latencies: latency?.percentiles.length ? new AggregateValues(MAX_VALUES) : undefined,
    });
  }

  addRecords(row: RecordGroup): void {
    const into = this.at(row.key, row.bucketUs);
    this.aggregates.sums.addSummed(into, row);
    this.addLatencies(into, row.latency, row.latencies);
  }

  /** `key`: values of the root, as `Dimensions.callKey` prints them. */
  addFolded({ startedUs, latencyMs: ms, hasFailed, figures, row }: FoldedTrace, key: string): void {
    const into = this.at(key, startedUs);
    this.aggregates.sums.addFrom(this.folded.sums, row, into);
    this.aggregates.sums.addTrace(into, { hasFailed, hasFailures: figures.failed > 0 });
    if (ms !== undefined) this.addLatencies(into, { count: 1, sum: ms, min: ms, max: ms }, [ms]);
  }

  private at(key: string, us: number): number {
    const group = this.groups.numberOf(key, { llm: null, provider: null });
    return this.aggregates.at(group, this.bucketAt(us));
  }

  private addLatencies(into: number, latency: LatencySums, each: readonly number[]): void {
    if (latency.count > 0) this.aggregates.sums.addLatencies(into, latency);
    for (const ms of each) this.aggregates.latencies?.add(into, ms);
  }
}
