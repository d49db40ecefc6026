import { AppError } from "../../shared/errors.ts";

/** Percentiles are exact, so that every value of an answer is kept. */
export const MAX_VALUES = 5_000_000;

/** Values, each of a cell. */
export class CellValues {
  private length = 0;
  private readonly max: number;
  private cells = new Int32Array(1024);
  private values = new Float64Array(1024);

  constructor(max: number) {
    this.max = max;
  }

  /** Errors: too_many_calls. */
  add(cell: number, value: number): void {
    if (this.length === this.max) {
      throw new AppError(
        "too_many_calls",
        `Percentiles of more than ${this.max} values. Ask for a shorter window, or for fewer percentiles.`,
      );
    }
    if (this.length === this.values.length) this.grow();
    this.cells[this.length] = cell;
    this.values[this.length++] = value;
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
