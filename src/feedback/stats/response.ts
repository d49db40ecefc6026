import { isoOf } from "../../shared/instant.ts";
import { outputKey, outputNames, type Metric } from "./metrics.ts";
import type { StatsPlan } from "./plan.ts";
import type { GroupSeries, Point, Stats } from "./series.ts";

/** Serializes the response, without objects in between: it can contain a million numbers. */
export function printResponse(plan: StatsPlan, { points, window, groups, other }: Stats): string {
  const keys = plan.metrics.flatMap((metric) =>
    outputNames(metric).map((name) => `,"${outputKey(name, metric.slug)}":`),
  );
  const printPoint = (point: Point): string => {
    let text = `"count":${point.rowCount}`;
    for (let output = 0; output < keys.length; output++)
      text += keys[output]! + String(point.outputs[output]);
    return text;
  };
  const printGroup = (group: GroupSeries | undefined, bucket: number): string => {
    const point = group?.points[bucket];
    return point === undefined ? "null" : `{${printPoint(point)}}`;
  };
  const buckets = points.map((point, index) => {
    const ofGroups = groups?.map((group) => printGroup(group, index)).join(",");
    const more = ofGroups === undefined ? "" : `,"groups":[${ofGroups}],"other":${printGroup(other, index)}`;
    return `{"timestamp":"${isoOf(plan.buckets.startsUs[index]!)}",${printPoint(point)}${more}}`;
  });
  return `{${[
    `"start":"${isoOf(plan.window.startUs)}"`,
    `"end":"${isoOf(plan.window.endUs)}"`,
    `"granularity":${plan.buckets.sizeSeconds}`,
    `"timezone":${JSON.stringify(plan.timezone)}`,
    ...(groups === undefined ? [] : printGroups(plan.metrics, groups, other)),
    `"buckets":[${buckets.join(",")}]`,
    `"window_stats":${printWindow(plan.metrics, window)}`,
  ].join(",")}}`;
}

function printGroups(
  metrics: readonly Metric[],
  groups: readonly GroupSeries[],
  other: GroupSeries | undefined,
): readonly string[] {
  const print = (name: string, { window }: GroupSeries): string =>
    `{${name},"count":${window.rowCount},"window_stats":${printWindow(metrics, window)}}`;
  const texts = groups.map((group) => print(`"key":${group.key}`, group));
  const rest = other === undefined ? "null" : print(`"groups":${other.groups}`, other);
  return [`"groups":[${texts.join(",")}]`, `"other":${rest}`];
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
