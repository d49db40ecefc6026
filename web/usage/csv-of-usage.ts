import type { UsageStats, UsageTotal } from "../api/routes.ts";
import { csv } from "../format/csv.ts";
import { localTime } from "../format/local-time.ts";

/** A row for each bucket and group with calls, with its local start; groups without a row of their own are "other". */
export function csvOfUsage({ groups, buckets, total, timezone }: UsageStats): string {
  const names = Object.keys(groups[0]?.key ?? {});
  const { partial: _, latency_ms: latencies, ...members } = total;
  const percentiles = Object.keys(latencies ?? {});
  const cells = (one: UsageTotal) => [
    ...Object.keys(members).map((member) => one[member as "calls"] ?? null),
    ...percentiles.map((name) => one.latency_ms?.[name] ?? null),
    String(one.partial ?? false),
  ];
  const rows = buckets.flatMap(({ timestamp, groups: totals, other }) => {
    const from = localTime(Date.parse(timestamp), timezone);
    return [
      ...totals.flatMap((one, at) => {
        const key = groups[at]?.key ?? {};
        return one === null ? [] : [[from, ...names.map((name) => textOf(key[name])), ...cells(one)]];
      }),
      ...(other === null ? [] : [[from, ...names.map(() => "other"), ...cells(other)]]),
    ];
  });
  const heads = [...Object.keys(members), ...percentiles.map((name) => `${name}_ms`), "partial"];
  return csv([[`from (${timezone})`, ...names, ...heads], ...rows]);
}

function textOf(value: string | number | boolean | null | undefined): string | null {
  return value == null ? null : String(value);
}
