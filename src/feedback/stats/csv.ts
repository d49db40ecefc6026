import { isoOf } from "../../shared/instant.ts";
import { csvLines, csvText } from "../../http/csv.ts";
import { keyFields } from "../../stats/response/print-csv.ts";
import { outputKey, outputNames } from "./metrics.ts";
import type { StatsPlan } from "./plan.ts";
import type { Point, Stats } from "./series.ts";

/**
 * Serializes the response to CSV: a line per bucket, or with groups per group and bucket with feedback, in the form of
 * `/usage/stats`; a column for its count and per number, whose names need no quotes.
 */
export function printCsv(plan: StatsPlan, { points, groups, other }: Stats): string {
  const names = plan.metrics.flatMap((metric) =>
    outputNames(metric).map((name) => outputKey(name, metric.slug)),
  );
  const timestamps = plan.buckets.startsUs.map((startUs) => isoOf(startUs));
  const numbers = ({ rowCount, outputs }: Point) => [rowCount, ...outputs];
  if (groups === undefined) {
    const lines = points.map((point, bucket) => [timestamps[bucket]!, ...numbers(point)]);
    return csvLines([["timestamp", "count", ...names], ...lines]);
  }
  const labels = plan.grouping!.dimensions.all.map(({ label }) => label);
  const named = [
    ...groups.map((group, place) => ({ group, name: [place + 1, ...keyFields(group.key, labels)] })),
    ...(other === undefined ? [] : [{ group: other, name: ["other", ...labels.map(() => null)] }]),
  ];
  const lines = timestamps.flatMap((timestamp, bucket) =>
    named.flatMap(({ group, name }) => {
      const point = group.points[bucket];
      return point === undefined ? [] : [[timestamp, ...name, ...numbers(point)]];
    }),
  );
  return csvLines([["timestamp", "group", ...labels.map(csvText), "count", ...names], ...lines]);
}
