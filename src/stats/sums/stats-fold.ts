import { AppError } from "../../shared/errors.ts";
import type { LatencySums } from "../../usage-rollup/sum-records.ts";
import { Sums } from "../../usage-rollup/sums.ts";
import type { Unpriced } from "../../usage-rollup/unpriced.ts";
import type { StatsPlan } from "../plan/plan-stats.ts";
import { Latencies, MAX_VALUES } from "./latencies.ts";
import { Groups } from "./groups.ts";

/**
 * Sums of a window by group and bucket, each an aggregate; their number bounds the memory of a response. Members are not `#`
 * private: V8 checks the class at each access, an eighth of the time per call.
 */
export class StatsFold {
  readonly groups: Groups;
  readonly unpriced: Unpriced;
  /** A row per aggregate. */
  readonly sums: Sums;
  readonly latencies: Latencies | undefined;
  readonly groupOf: number[] = [];
  readonly bucketOf: number[] = [];
  private readonly startsUs: readonly number[];
  private readonly maxAggregates: number;
  private readonly aggregates = new Map<number, number>();
  /** Last bucket and aggregate of each group: calls arrive in time order. */
  private readonly lastBuckets: number[] = [];
  private readonly lastAggregates: number[] = [];
  private lastBucket = 0;

  constructor(
    { dimensions, buckets, latency, withCosts }: StatsPlan,
    unpriced: Unpriced,
    maxAggregates: number,
  ) {
    this.groups = new Groups(dimensions.all);
    this.unpriced = unpriced;
    this.sums = new Sums({ withCosts });
    this.latencies = latency?.percentiles.length ? new Latencies(MAX_VALUES) : undefined;
    this.startsUs = buckets.startsUs;
    this.maxAggregates = maxAggregates;
  }

  /** Returns the aggregate of a group in a bucket; undefined if there is none. */
  find(group: number, bucket: number): number | undefined {
    return this.aggregates.get(group * this.startsUs.length + bucket);
  }

  /** Finds or adds an aggregate. Errors: too_many_calls if there are more than `maxAggregates`. */
  aggregateAt(group: number, bucket: number): number {
    if (this.lastBuckets[group] === bucket) return this.lastAggregates[group]!;
    const aggregate = this.find(group, bucket) ?? this.insert(group, bucket);
    this.lastBuckets[group] = bucket;
    this.lastAggregates[group] = aggregate;
    return aggregate;
  }

  /** Finds the bucket of an instant, fast for consecutive instants in one bucket. */
  bucketAt(us: number): number {
    const starts = this.startsUs;
    const last = this.lastBucket;
    if (starts[last]! <= us && us < (starts[last + 1] ?? Infinity)) return last;
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle]! <= us) low = middle;
      else high = middle - 1;
    }
    this.lastBucket = low;
    return low;
  }

  /** `each`: every latency if percentiles are requested. */
  addLatencies(aggregate: number, sums: LatencySums, each: readonly number[]): void {
    if (sums.count > 0) this.sums.addLatencies(aggregate, sums);
    for (const ms of each) this.latencies?.add(aggregate, ms);
  }

  addLatency(aggregate: number, ms: number): void {
    this.sums.addLatencies(aggregate, { count: 1, sum: ms, min: ms, max: ms });
    this.latencies?.add(aggregate, ms);
  }

  private insert(group: number, bucket: number): number {
    if (this.sums.length === this.maxAggregates)
      throw new AppError(
        "too_many_calls",
        `More than ${this.maxAggregates} groups × buckets. ` +
          "Use a larger granularity, a shorter window or fewer groups.",
      );
    this.aggregates.set(group * this.startsUs.length + bucket, this.sums.length);
    this.groupOf.push(group);
    this.bucketOf.push(bucket);
    return this.sums.addRow();
  }
}
