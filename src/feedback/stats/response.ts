import { isoOf } from "../../shared/instant.ts";
import { outputKey, outputNames, type Metric } from "./metrics.ts";
import type { StatsPlan } from "./plan.ts";
import type { Point, Series } from "./series.ts";

/** Serializes the response, without objects in between: it can contain a million numbers. */
export function printResponse(plan: StatsPlan, series: Series): string {
  const keys = plan.metrics.flatMap((metric) =>
    outputNames(metric).map((name) => `,"${outputKey(name, metric.slug)}":`),
  );
  const buckets = series.points.map((point, index) => {
    let text = `{"timestamp":"${isoOf(plan.buckets.startsUs[index]!)}","count":${point.rowCount}`;
    for (let output = 0; output < keys.length; output++)
      text += keys[output]! + String(point.outputs[output]);
    return `${text}}`;
  });
  return `{${[
    `"start":"${isoOf(plan.window.startUs)}"`,
    `"end":"${isoOf(plan.window.endUs)}"`,
    `"granularity":${plan.buckets.sizeSeconds}`,
    `"timezone":${JSON.stringify(plan.timezone)}`,
    `"buckets":[${buckets.join(",")}]`,
    `"window_stats":${printWindow(plan.metrics, series.window)}`,
  ].join(",")}}`;
}

/** Serializes the window's numbers; metrics that share a slug share an object. */
function printWindow(metrics: readonly Metric[], window: Point): string {
  const bySlug = new Map<string, string[]>();
  let output = 0;
  for (const metric of metrics) {
    const members = bySlug.get(metric.slug) ?? [];
    bySlug.set(metric.slug, members);
    for (const name of outputNames(metric)) members.push(`"${name}":${String(window.outputs[output++])}`);
  }
  return `{${[...bySlug].map(([slug, members]) => `"${slug}":{${members.join(",")}}`).join(",")}}`;
}
