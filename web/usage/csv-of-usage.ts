import type { UsageStats, UsageTotal } from "../api/routes.ts";
import { csv } from "../format/csv.ts";
import { clockOf } from "../format/local-time.ts";
import type { TimeRange } from "../state/time-range.ts";

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

/** 2026-10-25T02:00+01:00 */
function localTime(ms: number, zone: string): string {
  const clock = clockOf(ms, zone);
  const minutes = Math.round((clock - ms) / 60_000);
  const offset = new Date(Math.abs(minutes) * 60_000).toISOString().slice(11, 16);
  return `${new Date(clock).toISOString().slice(0, 16)}${minutes < 0 ? "-" : "+"}${offset}`;
}

/** usage acme-app 2026-10-01–2026-10-28.csv, with the local days of the range. */
export function csvNameOf(project: string, { fromMs, toMs = Date.now() }: TimeRange, zone: string): string {
  const [from, to] = [fromMs, toMs - 1].map((ms) => localTime(ms, zone).slice(0, 10));
  return `usage ${project.replaceAll("/", "-")} ${from}${from === to ? "" : `–${to}`}.csv`;
}

function textOf(value: string | number | boolean | null | undefined): string | null {
  return value == null ? null : String(value);
}
