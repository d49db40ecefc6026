import { AppError } from "../shared/errors.ts";
import type { LatencySums } from "./sums.ts";

export const LATENCY_AGGREGATIONS = ["avg", "min", "max", "sum", "count"] as const;
type LatencyAggregation = (typeof LATENCY_AGGREGATIONS)[number];

/** What is asked of latencies. */
export interface LatencyQuestion {
  readonly aggregations: readonly LatencyAggregation[];
  /** 0 to 100. */
  readonly percentiles: readonly number[];
}

/** Percentiles are exact, so that every latency is kept. */
const MAX_VALUES = 5_000_000;

/** The names of the answer's numbers, in their order: `avg`, `p95`. */
export function latencyNames({ aggregations, percentiles }: LatencyQuestion): readonly string[] {
  return [...aggregations, ...percentiles.map((percentile) => `p${percentile}`)];
}

/** Of no calls: 0 for `sum` and `count`, else null. */
export function aggregateOf(name: LatencyAggregation, { count, sum, min, max }: LatencySums): number | null {
  if (name === "count") return count;
  if (name === "sum") return sum;
  if (count === 0) return null;
  return { avg: sum / count, min, max }[name];
}

/** Values, each of a cell. */
export class LatencyValues {
  private length = 0;
  private cells = new Int32Array(1024);
  private values = new Float64Array(1024);

  /** Errors: too_many_calls. */
  add(cell: number, ms: number): void {
    if (this.length === MAX_VALUES) {
      throw new AppError(
        "too_many_calls",
        `Percentiles of the latency of more than ${MAX_VALUES} calls. Ask for a shorter window, or without percentiles.`,
      );
    }
    if (this.length === this.values.length) this.grow();
    this.cells[this.length] = cell;
    this.values[this.length++] = ms;
  }

  /** The values of each row, ascending; `rowOf` says to which row a cell goes, -1 for none. */
  sortedRows(rowOf: (cell: number) => number, rows: number): readonly Float64Array[] {
    const sizes = new Int32Array(rows);
    for (let at = 0; at < this.length; at++) {
      const row = rowOf(this.cells[at]!);
      if (row >= 0) sizes[row]!++;
    }
    const sorted = Array.from(sizes, (size) => new Float64Array(size));
    sizes.fill(0);
    for (let at = 0; at < this.length; at++) {
      const row = rowOf(this.cells[at]!);
      if (row >= 0) sorted[row]![sizes[row]!++] = this.values[at]!;
    }
    for (const values of sorted) values.sort();
    return sorted;
  }

  private grow(): void {
    const cells = new Int32Array(this.cells.length * 2);
    const values = new Float64Array(this.values.length * 2);
    cells.set(this.cells);
    values.set(this.values);
    this.cells = cells;
    this.values = values;
  }
}

/** Between the two nearest values, in proportion. Null of no values. */
export function percentileOf(sorted: Float64Array, percentile: number): number | null {
  if (sorted.length === 0) return null;
  const place = ((sorted.length - 1) * percentile) / 100;
  const low = Math.floor(place);
  const below = sorted[low]!;
  const above = sorted[Math.min(low + 1, sorted.length - 1)]!;
  return below + (above - below) * (place - low);
}
