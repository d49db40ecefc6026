import { isoOf } from "../../shared/instant.ts";
import { csvLines } from "../../http/csv.ts";
import { outputKey, outputNames } from "./metrics.ts";
import type { StatsPlan } from "./plan.ts";
import type { Series } from "./series.ts";

/** The response as CSV: a line for every bucket, with its count and a column for every number. Names have no special characters. */
export function printCsv(plan: StatsPlan, series: Series): string {
  const names = plan.metrics.flatMap((metric) =>
    outputNames(metric).map((name) => outputKey(name, metric.slug)),
  );
  const lines = series.points.map((point, index) => [
    isoOf(plan.buckets.startsUs[index]!),
    point.rowCount,
    ...point.outputs,
  ]);
  return csvLines([["timestamp", "count", ...names], ...lines]);
}
