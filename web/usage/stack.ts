import type { UsageStats, UsageTotal } from "../api/routes.ts";
import { COLORS, colorsOf, OTHER } from "./colors.ts";

export type Member = "total_cost" | "total_tokens" | "calls" | "errors";

/** A layer of the bars: a group, or the rest. */
export interface Layer {
  readonly label: string;
  readonly color: string;
  /** Among the groups; undefined: the rest. */
  readonly group: number | undefined;
  /** By bucket; null: nothing, or unknown. */
  readonly values: readonly (number | null)[];
  /** By bucket: the cost leaves something out. */
  readonly isPartial: readonly boolean[];
}

/** The first groups, each with a colour, and the rest as "other". A line is 0 where a group has no calls. */
export function layersOf(
  { groups, other, buckets }: UsageStats,
  member: Member,
  asLines = false,
): readonly Layer[] {
  const labels = groups.map(({ key }) => labelOf(key));
  const colors = colorsOf(labels);
  const named = labels.slice(0, COLORS).map((label, at) => ({
    label,
    color: colors.get(label) ?? OTHER,
    group: at,
    values: buckets.map(({ groups: { [at]: total } }) => valueOf(total, member, asLines ? 0 : null)),
    isPartial: buckets.map((bucket) => isPartial(bucket.groups[at], member)),
  }));
  if (groups.length <= COLORS && other === null) return named;
  const rest = buckets.map((bucket) => [...bucket.groups.slice(COLORS), bucket.other]);
  return [
    ...named,
    {
      label: "other",
      color: OTHER,
      group: undefined,
      values: rest.map((totals) => sumOfKnown(totals.map((total) => valueOf(total, member)))),
      isPartial: rest.map((totals) => totals.some((total) => isPartial(total, member))),
    },
  ];
}

export function labelOf(key: UsageStats["groups"][number]["key"]): string {
  const values = Object.values(key).map((value) => (value === null ? "(none)" : String(value)));
  return values.length === 0 ? "all" : values.join(" · ");
}

export function valueOf(
  total: UsageTotal | null | undefined,
  member: Member,
  ifNoCalls: 0 | null = null,
): number | null {
  return total == null ? ifNoCalls : (total[member] ?? null);
}

export function isPartial(total: UsageTotal | null | undefined, member: Member): boolean {
  return member === "total_cost" && total?.partial === true;
}

function sumOfKnown(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
}
