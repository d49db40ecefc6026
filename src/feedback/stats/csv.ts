import { isoOf } from "../../shared/instant.ts";
import { csvLines, csvText } from "../../http/csv.ts";
import { keyFields } from "../../stats/response/print-csv.ts";
import { outputKey, outputNames } from "./metrics.ts";
import type { StatsPlan } from "./plan.ts";
import type { Stats } from "./series.ts";

/**
 * Serializes the response to CSV: a line per bucket, or with groups per group and bucket with feedback, in the form of
 * `/usage/stats`; a column for its count and per number, whose names need no quotes.
 */
export function printCsv(plan: StatsPlan, { points, groups, other }: Stats): string {
  const names = plan.metrics.flatMap((metric) =>
    outputNames(metric).map((name) => outputKey(name, metric.slug)),
  );
  const labels = plan.grouping?.dimensions.all.map(({ label }) => label) ?? [];
  const all = { points, name: [] };
  const named = groups?.map((group, place) => ({
    ...group,
    name: [place + 1, ...keyFields(group.key, labels)],
  }));
  const rest = other && { ...other, name: ["other", ...labels.map(() => null)] };
  const listed = named === undefined ? [all] : [...named, ...(rest === undefined ? [] : [rest])];
  const lines = plan.buckets.startsUs.flatMap((startUs, bucket) =>
    listed.flatMap(({ points: ofGroup, name }) => {
      const point = ofGroup[bucket];
      return point === undefined ? [] : [[isoOf(startUs), ...name, point.rowCount, ...point.outputs]];
    }),
  );
  const keys = groups === undefined ? [] : ["group", ...labels.map(csvText)];
  return csvLines([["timestamp", ...keys, "count", ...names], ...lines]);
}
