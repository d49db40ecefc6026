import type { UsageStats, UsageTotal } from "../api/routes.ts";

export type Member = "total_cost" | "total_tokens" | "calls" | "errors";

/** A layer of the bars: a group, or the rest. */
export interface Layer {
  readonly label: string;
  readonly color: string;
  /** By bucket; null: nothing, or unknown. */
  readonly values: readonly (number | null)[];
}

const COLORS = 8;

/** The same as lines: 0 where a group has no calls, and a gap only where a value is unknown. */
export function lineLayersOf(stats: UsageStats, member: Member): readonly Layer[] {
  const present = stats.buckets.map(({ groups }) => groups);
  return layersOf(stats, member).map((layer, at) => ({
    ...layer,
    values: layer.values.map((value, bucket) =>
      at < COLORS && (present[bucket]?.[at] ?? null) === null ? 0 : value,
    ),
  }));
}

/** The first groups, each with a colour, and the rest as "other". */
export function layersOf({ groups, other, buckets }: UsageStats, member: Member): readonly Layer[] {
  const named = groups.slice(0, COLORS).map(({ key }, at) => ({
    label: labelOf(key),
    color: colorOf(at),
    values: buckets.map((bucket) => valueOf(bucket.groups[at], member)),
  }));
  if (groups.length <= COLORS && other === null) return named;
  const rest = buckets.map((bucket) =>
    [...bucket.groups.slice(COLORS), bucket.other].map((total) => valueOf(total, member)),
  );
  return [...named, { label: "other", color: colorOf(COLORS), values: rest.map(sumOfKnown) }];
}

export function colorOf(at: number): string {
  return at < COLORS ? `--series-${at}` : "--series-other";
}

export function labelOf(key: UsageStats["groups"][number]["key"]): string {
  const values = Object.values(key).map((value) => (value === null ? "(none)" : String(value)));
  return values.length === 0 ? "all" : values.join(" · ");
}

/** Each layer on top of those before it; the tallest is drawn first. */
export function stacked(layers: readonly Layer[]): readonly Layer[] {
  const tops: Layer[] = [];
  for (const layer of layers) {
    const below = tops.at(-1)?.values ?? [];
    tops.push({ ...layer, values: layer.values.map((value, at) => sumOfKnown([below[at] ?? null, value])) });
  }
  return tops.toReversed();
}

function valueOf(total: UsageTotal | null | undefined, member: Member): number | null {
  return total?.[member] ?? null;
}

function sumOfKnown(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
}
