import type { StatsPlan } from "./plan.ts";
import { outputNames } from "./metrics.ts";
import type { StatsRow } from "./statement.ts";

/** Numbers of a bucket or of the window, as in `StatsRow`. */
export interface Point {
  readonly rowCount: number;
  readonly outputs: readonly (number | null)[];
}

/** A point per planned bucket, in order, and one for the window. */
export interface Series<OfBucket = Point> {
  readonly points: readonly OfBucket[];
  readonly window: Point;
}

/** Feedback of a group, or of the groups beyond the limit; undefined in buckets without any. */
export interface GroupSeries extends Series<Point | undefined> {
  /** Key as JSON; '' for several groups. */
  readonly key: string;
  readonly groups: number;
}

export interface Stats extends Series {
  /** In order; undefined if not requested. */
  readonly groups: readonly GroupSeries[] | undefined;
  /** Undefined if there are none. */
  readonly other: GroupSeries | undefined;
}

/** Assigns rows to groups and planned buckets; fills buckets without rows with the values of an empty one. */
export function fillSeries(plan: StatsPlan, rows: readonly StatsRow[]): Stats {
  const empty: Point = { rowCount: 0, outputs: plan.metrics.flatMap(outputNames).map(emptyValue) };
  const byPlace = Map.groupBy(rows, ({ place }) => place);
  const { points, window } = seriesOf(plan, byPlace.get(0) ?? []);
  const maxGroups = plan.grouping?.maxGroups ?? 0;
  const ofPlace = (place: number): GroupSeries => {
    const ofGroup = byPlace.get(place)!;
    const { group_key: key, groups } = ofGroup.find((row) => row.is_window === 1)!;
    const series = seriesOf(plan, ofGroup);
    return { ...series, window: series.window!, key, groups };
  };
  const listed = [...byPlace.keys()].filter((place) => place > 0 && place <= maxGroups);
  return {
    points: points.map((point) => point ?? empty),
    window: window ?? empty,
    groups: plan.grouping && listed.toSorted((one, other) => one - other).map(ofPlace),
    other: maxGroups > 0 && byPlace.has(maxGroups + 1) ? ofPlace(maxGroups + 1) : undefined,
  };
}

function seriesOf({ buckets }: StatsPlan, rows: readonly StatsRow[]) {
  const byStart = new Map<number, Point>();
  let window: Point | undefined;
  for (const row of rows) {
    const point = { rowCount: row.row_count, outputs: row.outputs };
    if (row.is_window === 1) window = point;
    else byStart.set(row.start_us, point);
  }
  return { points: buckets.startsUs.map((startUs) => byStart.get(startUs)), window };
}

/** Values of an empty bucket: counts and sums are 0, all else is null. */
function emptyValue(name: string): number | null {
  return name === "sum" || name.startsWith("count") ? 0 : null;
}
