import { sortSteps } from "../../shared/sort-steps.ts";
import { ROWS_PER_STEP, type Steps } from "../../shared/steps.ts";
import { AppError } from "../../shared/errors.ts";

/** Maximum number of values of one response; all are kept, because percentiles are exact. */
export const MAX_VALUES = 5_000_000;
const VALUES_PER_STEP = 16_384;

/** Values by aggregate. */
export class Latencies {
  private length = 0;
  private readonly max: number;
  private aggregates = new Int32Array(1024);
  private values = new Float64Array(1024);

  constructor(max: number) {
    this.max = max;
  }

  /** Adds a value. Errors: too_many_calls. */
  add(aggregate: number, value: number): void {
    if (this.length === this.max) {
      throw new AppError(
        "too_many_calls",
        `Percentiles of more than ${this.max} values. Use a shorter window or fewer percentiles.`,
      );
    }
    if (this.length === this.values.length) this.grow();
    this.aggregates[this.length] = aggregate;
    this.values[this.length++] = value;
  }

  /** Sorts the values of each row, ascending. `rowOf`: the row of an aggregate; -1 for none. */
  *sortedRows(rowOf: (aggregate: number) => number, rows: number): Steps<SortedRows> {
    const ends = new Int32Array(rows);
    for (let at = 0; at < this.length; at++) {
      const row = rowOf(this.aggregates[at]!);
      if (row >= 0) ends[row]!++;
      if (at % VALUES_PER_STEP === 0) yield;
    }
    let before = 0;
    for (let row = 0; row < rows; row++) {
      const size = ends[row]!;
      ends[row] = before;
      before += size;
    }
    const values = new Float64Array(before);
    for (let at = 0; at < this.length; at++) {
      const row = rowOf(this.aggregates[at]!);
      if (row >= 0) values[ends[row]!++] = this.values[at]!;
      if (at % VALUES_PER_STEP === 0) yield;
    }
    const sorted = new SortedRows(values, ends);
    for (let row = 0; row < rows; row++) {
      yield* sortSteps(sorted.of(row));
      if (row % ROWS_PER_STEP === 0) yield;
    }
    return sorted;
  }

  private grow(): void {
    const aggregates = new Int32Array(this.aggregates.length * 2);
    const values = new Float64Array(this.values.length * 2);
    aggregates.set(this.aggregates);
    values.set(this.values);
    this.aggregates = aggregates;
    this.values = values;
  }
}

/** Values of rows; those of a row are contiguous. */
export class SortedRows {
  private readonly values: Float64Array;
  /** End index of each row's values. */
  private readonly ends: Int32Array;

  constructor(values: Float64Array, ends: Int32Array) {
    this.values = values;
    this.ends = ends;
  }

  of(row: number): Float64Array {
    return this.values.subarray(row === 0 ? 0 : this.ends[row - 1]!, this.ends[row]);
  }
}

/** Interpolates linearly between the two nearest values; null without values. */
export function percentileOf(sorted: Float64Array, percentile: number): number | null {
  if (sorted.length === 0) return null;
  const place = ((sorted.length - 1) * percentile) / 100;
  const low = Math.floor(place);
  const below = sorted[low]!;
  const above = sorted[Math.min(low + 1, sorted.length - 1)]!;
  return below + (above - below) * (place - low);
}
