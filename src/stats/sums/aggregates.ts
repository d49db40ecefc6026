import { AppError } from "../../shared/errors.ts";
import type { AggregateValues } from "./aggregate-values.ts";
import { Sums } from "./sums.ts";

/** Sums by group and bucket; they bound the memory of a response. */
export class AggregateTable {
  readonly sums: Sums;
  readonly latencies: AggregateValues | undefined;
  readonly groupOf: number[] = [];
  readonly bucketOf: number[] = [];
  private readonly maxAggregates: number;
  private readonly buckets: number;
  private readonly numbers = new Map<number, number>();
  /** Last bucket and aggregate of each group: calls arrive in time order. */
  private readonly lastBuckets: number[] = [];
  private readonly lastAggregates: number[] = [];

  constructor(options: {
    buckets: number;
    maxAggregates: number;
    withCosts: boolean;
    latencies: AggregateValues | undefined;
  }) {
    this.buckets = options.buckets;
    this.maxAggregates = options.maxAggregates;
    this.latencies = options.latencies;
    this.sums = new Sums(options);
  }

  /** Returns the aggregate of a group in a bucket; undefined if there is none. */
  find(group: number, bucket: number): number | undefined {
    return this.numbers.get(group * this.buckets + bucket);
  }

  /** Finds or adds an aggregate. Errors: too_many_calls if there are more than `maxAggregates`. */
  at(group: number, bucket: number): number {
    if (this.lastBuckets[group] === bucket) return this.lastAggregates[group]!;
    const aggregate = this.findOrAdd(group, bucket);
    this.lastBuckets[group] = bucket;
    this.lastAggregates[group] = aggregate;
    return aggregate;
  }

  private findOrAdd(group: number, bucket: number): number {
    const known = this.find(group, bucket);
    if (known !== undefined) return known;
    if (this.sums.length === this.maxAggregates) {
      throw new AppError(
        "too_many_calls",
        `More than ${this.maxAggregates} groups × buckets. ` +
          "Use a larger granularity, a shorter window or fewer groups.",
      );
    }
    this.numbers.set(group * this.buckets + bucket, this.sums.length);
    this.groupOf.push(group);
    this.bucketOf.push(bucket);
    return this.sums.addRow();
  }
}
