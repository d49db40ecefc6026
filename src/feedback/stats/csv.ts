import { isoOf } from "../../shared/instant.ts";
import { csvLines, csvText } from "../../http/csv.ts";
import { keyFields } from "../../stats/response/print-csv.ts";
import { outputKeys } from "./metrics.ts";
import type { StatsPlan } from "./plan.ts";
import type { Stats } from "./series.ts";

/**
 * Serializes the response to CSV: a line per bucket, or with groups per group and bucket with feedback, in the form of
 * `/usage/stats`; a column for its count and per number, whose names need no quotes.
 */
export function printCsv({ buckets, metrics, grouping }: StatsPlan, { all, groups, other }: Stats): string {
  const labels = grouping?.dimensions.all.map(({ label }) => label) ?? [];
  const named = groups?.map(({ points, window }, place) => ({
    points,
    name: [place + 1, ...keyFields(window.group_key, labels)],
  }));
  const rest = other === undefined ? [] : [{ ...other, name: ["other", ...labels.map(() => null)] }];
  const listed = named === undefined ? [{ ...all, name: [] }] : [...named, ...rest];
  const lines = buckets.startsUs.flatMap((startUs, bucket) =>
    listed.flatMap(({ points, name }) => {
      const point = points[bucket];
      return point === undefined ? [] : [[isoOf(startUs), ...name, point.row_count, ...point.outputs]];
    }),
  );
  const keys = groups === undefined ? [] : ["group", ...labels.map(csvText)];
  return csvLines([["timestamp", ...keys, "count", ...metrics.flatMap(outputKeys)], ...lines]);
}
