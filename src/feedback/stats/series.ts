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
  const places = [...byPlace.keys()].toSorted((one, other) => one - other);
  const [all, ...groups] = (places.length === 0 ? [0] : places).map((place) =>
    seriesOf(plan, byPlace.get(place) ?? [], empty),
  );
  const maxGroups = plan.grouping?.maxGroups ?? 0;
  return {
    points: all!.points.map((point) => point ?? empty),
    window: all!.window,
    groups: plan.grouping && groups.slice(0, maxGroups),
    other: groups[maxGroups],
  };
}

function seriesOf({ buckets }: StatsPlan, rows: readonly StatsRow[], empty: Point): GroupSeries {
  const pointOf = (row: StatsRow | undefined): Point | undefined =>
    row && { rowCount: row.row_count, outputs: row.outputs };
  const total = rows.find((row) => row.is_window === 1);
  const byStart = new Map(rows.map((row) => [row.is_window === 1 ? undefined : row.start_us, row]));
  return {
    points: buckets.startsUs.map((startUs) => pointOf(byStart.get(startUs))),
    window: pointOf(total) ?? empty,
    key: total?.group_key ?? "",
    groups: total?.groups ?? 0,
  };
}

/** Values of an empty bucket: counts and sums are 0, all else is null. */
function emptyValue(name: string): number | null {
  return name === "sum" || name.startsWith("count") ? 0 : null;
}
