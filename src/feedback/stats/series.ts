import { outputNames } from "./metrics.ts";
import type { StatsPlan } from "./plan.ts";
import type { StatsRow } from "./statement.ts";

/** Numbers of a bucket or of the window. */
export type Point = Pick<StatsRow, "row_count" | "outputs">;

/** Numbers of all feedback, of a group, or of the groups beyond the limit. */
export interface Series<OfBucket = Point | undefined> {
  /** By planned bucket; a group is undefined in buckets without its feedback. */
  readonly points: readonly OfBucket[];
  readonly window: Omit<StatsRow, "place" | "is_window" | "start_us">;
}

export interface Stats {
  readonly all: Series<Point>;
  /** In order; undefined if not requested. */
  readonly groups: readonly Series[] | undefined;
  /** Undefined if there are none. */
  readonly other: Series | undefined;
}

/** Assigns rows to groups and planned buckets; fills buckets without rows with the values of an empty one. */
export function fillSeries({ buckets, metrics, grouping }: StatsPlan, rows: readonly StatsRow[]): Stats {
  const outputs = metrics.flatMap(outputNames).map(emptyValue);
  const empty = { row_count: 0, outputs, group_key: "", groups: 0 };
  const ranks = [...Map.groupBy(rows, ({ place }) => place)].toSorted(([one], [other]) => one - other);
  const [all, ...groups] = ranks.map(([, own]) => {
    const byStart = new Map(own.map((row) => [row.is_window === 1 ? undefined : row.start_us, row]));
    const points = buckets.startsUs.map((startUs) => byStart.get(startUs));
    return { points, window: byStart.get(undefined) ?? empty };
  });
  return {
    all: {
      points: buckets.startsUs.map((_, bucket) => all?.points[bucket] ?? empty),
      window: all?.window ?? empty,
    },
    groups: grouping && groups.slice(0, grouping.maxGroups),
    other: grouping && groups[grouping.maxGroups],
  };
}

/** Values of an empty bucket: counts and sums are 0, all else is null. */
function emptyValue(name: string): number | null {
  return name === "sum" || name.startsWith("count") ? 0 : null;
}
