import { isoOf } from "../../shared/instant.ts";
import { outputKeys, outputNames, type Metric } from "./metrics.ts";
import type { StatsPlan } from "./plan.ts";
import type { Point, Series, Stats } from "./series.ts";

/** Serializes the response, without objects in between: it can contain a million numbers. */
export function printResponse(plan: StatsPlan, { all, groups, other }: Stats): string {
  const { window } = plan.rows;
  const keys = plan.metrics.flatMap(outputKeys).map((key) => `,"${key}":`);
  const printPoint = ({ row_count, outputs }: Point): string =>
    keys.reduce((text, key, output) => text + key + String(outputs[output]), `"count":${row_count}`);
  const printGroup = (group: Series | undefined, bucket: number): string => {
    const point = group?.points[bucket];
    return point === undefined ? "null" : `{${printPoint(point)}}`;
  };
  const buckets = all.points.map((point, index) => {
    const ofGroups = groups?.map((group) => printGroup(group, index)).join(",");
    const more = ofGroups === undefined ? "" : `,"groups":[${ofGroups}],"other":${printGroup(other, index)}`;
    return `{"timestamp":"${isoOf(plan.buckets.startsUs[index]!)}",${printPoint(point)}${more}}`;
  });
  return `{${[
    `"start":"${isoOf(window.startUs)}"`,
    `"end":"${isoOf(window.endUs)}"`,
    `"granularity":${plan.buckets.sizeSeconds}`,
    `"timezone":${JSON.stringify(plan.timezone)}`,
    ...(groups === undefined ? [] : printGroups(plan.metrics, groups, other)),
    `"buckets":[${buckets.join(",")}]`,
    `"window_stats":${printWindow(plan.metrics, all.window)}`,
  ].join(",")}}`;
}

function printGroups(
  metrics: readonly Metric[],
  groups: readonly Series[],
  other: Series | undefined,
): readonly string[] {
  const print = (name: string, { window }: Series): string =>
    `{${name},"count":${window.row_count},"window_stats":${printWindow(metrics, window)}}`;
  const texts = groups.map((group) => print(`"key":${group.window.group_key}`, group));
  const rest = other === undefined ? "null" : print(`"groups":${other.window.groups}`, other);
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
