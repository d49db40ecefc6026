import type { StatsPlan } from "./plan.ts";
import { outputNames } from "./metrics.ts";
import type { StatsRow } from "./statement.ts";

/** Numbers of a bucket or of the window, as in `StatsRow`. */
export interface Point {
  readonly rowCount: number;
  readonly outputs: readonly (number | null)[];
}

/** One point per planned bucket, in order, and one for the window. */
export interface Series {
  readonly points: readonly Point[];
  readonly window: Point;
}

/** Assigns rows to the planned buckets; fills buckets without rows with the values of an empty one. */
export function fillSeries(plan: StatsPlan, rows: readonly StatsRow[]): Series {
  const empty: Point = { rowCount: 0, outputs: plan.metrics.flatMap(outputNames).map(emptyValue) };
  const byStart = new Map<number, Point>();
  let window = empty;
  for (const row of rows) {
    const point = { rowCount: row.row_count, outputs: row.outputs };
    if (row.is_window === 1) window = point;
    else byStart.set(row.start_us, point);
  }
  return { points: plan.buckets.startsUs.map((startUs) => byStart.get(startUs) ?? empty), window };
}

/** Values of an empty bucket: counts and sums are 0, all else is null. */
function emptyValue(name: string): number | null {
  return name === "sum" || name.startsWith("count") ? 0 : null;
}
