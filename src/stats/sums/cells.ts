import { AppError } from "../../shared/errors.ts";
import type { CellValues } from "./cell-values.ts";
import { Sums } from "./sums.ts";

/** The sums of every group in every bucket that has calls of it. What an answer's memory is bounded by. */
export class Cells {
  readonly sums: Sums;
  readonly latencies: CellValues | undefined;
  readonly groupOf: number[] = [];
  readonly bucketOf: number[] = [];
  private readonly maxCells: number;
  private readonly buckets: number;
  private readonly numbers = new Map<number, number>();
  /** Of each group the bucket and the cell that were asked for last: calls come in the order of time. */
  private readonly lastBuckets: number[] = [];
  private readonly lastCells: number[] = [];

  constructor(options: {
    buckets: number;
    maxCells: number;
    withCosts: boolean;
    latencies: CellValues | undefined;
  }) {
    this.buckets = options.buckets;
    this.maxCells = options.maxCells;
    this.latencies = options.latencies;
    this.sums = new Sums(options);
  }

  /** Undefined when nothing of the group is in the bucket. */
  find(group: number, bucket: number): number | undefined {
    return this.numbers.get(group * this.buckets + bucket);
  }

  /** Errors: too_many_calls when there are more than `maxCells`. */
  at(group: number, bucket: number): number {
    if (this.lastBuckets[group] === bucket) return this.lastCells[group]!;
    const cell = this.findOrAdd(group, bucket);
    this.lastBuckets[group] = bucket;
    this.lastCells[group] = cell;
    return cell;
  }

  private findOrAdd(group: number, bucket: number): number {
    const known = this.find(group, bucket);
    if (known !== undefined) return known;
    if (this.sums.length === this.maxCells) {
      throw new AppError(
        "too_many_calls",
        `The question has more than ${this.maxCells} groups in buckets. ` +
          "Ask for a larger granularity, a shorter window or fewer groups, or raise MAX_STATS_AGGREGATES.",
      );
    }
    this.numbers.set(group * this.buckets + bucket, this.sums.length);
    this.groupOf.push(group);
    this.bucketOf.push(bucket);
    return this.sums.addRow();
  }
}
