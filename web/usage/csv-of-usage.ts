import type { UsageStats, UsageTotal } from "../api/routes.ts";
import { csv } from "../format/csv.ts";
import { COUNTS } from "../format/usage.ts";

const MEMBERS = [
  "calls",
  "errors",
  ...COUNTS,
  "other_cost",
  "total_cost",
] as const satisfies readonly (keyof UsageTotal)[];

/** A row for each bucket and group with calls; groups without a row of their own are "other". */
export function csvOfUsage({ groups, buckets }: UsageStats): string {
  const names = Object.keys(groups[0]?.key ?? {});
  const cells = (total: UsageTotal) => [
    ...MEMBERS.map((member) => total[member] ?? null),
    String(total.partial ?? false),
  ];
  const rows = buckets.flatMap(({ timestamp, groups: totals, other }) => [
    ...totals.flatMap((total, at) => {
      const key = groups[at]?.key ?? {};
      return total === null ? [] : [[timestamp, ...names.map((name) => textOf(key[name])), ...cells(total)]];
    }),
    ...(other === null ? [] : [[timestamp, ...names.map(() => "other"), ...cells(other)]]),
  ]);
  return csv([["from", ...names, ...MEMBERS, "partial"], ...rows]);
}

function textOf(value: string | number | boolean | null | undefined): string | null {
  return value == null ? null : String(value);
}
