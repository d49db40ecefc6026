import type { UsageStats, UsageTotal } from "../api/routes.ts";
import { patternOf } from "../format/error-pattern.ts";
import { toPicodollar } from "../format/usage.ts";
import { ERROR } from "./groups.ts";

/** Merges groups whose errors have one pattern; the largest by `valueOf` first. */
export function mergeErrors(stats: UsageStats, valueOf: (total: UsageTotal) => number | null): UsageStats {
  const places = Map.groupBy(stats.groups.keys(), (at) => {
    const { [ERROR]: error, ...rest } = stats.groups[at]!.key;
    return JSON.stringify({ ...rest, [ERROR]: error == null ? null : patternOf(String(error)) });
  });
  const merged = [...places]
    .map(([key, at]) => ({
      at,
      key: JSON.parse(key),
      total: addUp(at.map((one) => stats.groups[one]!.total)),
    }))
    .toSorted((a, b) => (valueOf(b.total) ?? -1) - (valueOf(a.total) ?? -1));
  return {
    ...stats,
    groups: merged.map(({ key, total }) => ({ key, total })),
    buckets: stats.buckets.map((bucket) => ({
      ...bucket,
      groups: merged.map(({ at }) => {
        const totals = at.flatMap((one) => bucket.groups[one] ?? []);
        return totals.length === 0 ? null : addUp(totals);
      }),
    })),
  };
}

/** Adds totals: a null cost leaves something out. Percentiles of several are not known. */
function addUp(totals: readonly UsageTotal[]): UsageTotal {
  const [first] = totals;
  if (totals.length === 1) return first!;
  const sums = Object.keys(first!).map((name) => {
    const values = totals.map((total) => total[name as "calls"]);
    if (name === "partial") return [name, values.some(Boolean)];
    const known = values.filter((value) => typeof value === "number");
    return [name, known.length === 0 ? null : toPicodollar(known.reduce((sum, value) => sum + value))];
  });
  const sum = Object.fromEntries(sums) as UsageTotal;
  const { traces = 0, total_cost: usd = null } = sum;
  return {
    ...sum,
    cost_per_trace: usd === null || traces === 0 ? null : toPicodollar(usd / traces),
    latency_ms: {},
  };
}
