import { isoOf } from "../../shared/instant.ts";
import { csvLines } from "../../http/csv.ts";
import { outputKey, outputNames } from "./metrics.ts";
import type { StatsPlan } from "./plan.ts";
import type { Series } from "./series.ts";

/** Serializes the response to CSV: a line per bucket, a column for its count and per number. Column names need no quotes. */
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
