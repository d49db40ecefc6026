import { useMemo } from "react";
import type { UsageStats, UsageTotal } from "../api/routes.ts";
import type { ChartProps, ChartSeries } from "../components/chart-props.ts";
import { Chart } from "../components/chart.tsx";
import { labelOf } from "../state/groups.ts";
import { COLORS, colorsOf, OTHER } from "./colors.ts";
import { axisOf, formatOf, MEASURES, type Measure } from "./measures.ts";

interface UsageChartProps extends Pick<ChartProps, "buckets" | "zone" | "hovered" | "onHover" | "onZoom"> {
  readonly stats: UsageStats;
  readonly measure: Measure;
  /** One line per group instead of a stack; so is what does not add up. */
  readonly asLines: boolean;
  /** The traces of a group in a bucket, or all of the bucket; undefined: they cannot be searched for. */
  readonly hrefOf: (bucket: number, group?: number) => string | undefined;
}

/** Bars or lines over local time: the first groups, each with a colour, and the rest as "other". */
export function UsageChart({ stats, measure, asLines, hrefOf, ...shared }: UsageChartProps) {
  const { groups, other, buckets } = stats;
  const { label, kind, addsUp = false } = MEASURES[measure];
  const series = useMemo((): readonly ChartSeries[] => {
    const names = groups.map(({ key }) => JSON.stringify(key));
    const colors = colorsOf(names);
    const seriesOf = (label: string, parts: readonly Part[], group?: number): ChartSeries => ({
      label,
      color: (group !== undefined && colors.get(names[group]!)) || OTHER,
      kind: asLines || !addsUp ? "line" : "bars",
      values: parts.map(({ value }) => value),
      isPartial: parts.map(({ isPartial }) => isPartial),
      hrefOf: (bucket) => (group === undefined ? undefined : hrefOf(bucket, group)),
    });
    const named = groups.slice(0, COLORS).map(({ key }, at) => {
      const parts = buckets.map(({ groups: { [at]: total } }) =>
        // a line of a sum is 0 where a group has nothing
        asLines && addsUp && total == null ? { value: 0, isPartial: false } : sumOf([total], measure),
      );
      return seriesOf(labelOf(key), parts, at);
    });
    if (!addsUp) {
      const all = seriesOf(
        "all",
        buckets.map(({ total }) => sumOf([total], measure)),
      );
      return groups.length === 1 && other === null ? named : [...named, { ...all, kind: "ghost" }];
    }
    if (groups.length <= COLORS && other === null) return named;
    const rest = buckets.map((bucket) => sumOf([...bucket.groups.slice(COLORS), bucket.other], measure));
    return [...named, seriesOf("other", rest)];
  }, [stats, measure, asLines, hrefOf]);
  return (
    <Chart
      label={`${label} over time; the table below has the numbers`}
      {...{ series, ...shared }}
      {...(addsUp && { totals: buckets.map(({ total }) => sumOf([total], measure)) })}
      hrefOf={(bucket) => hrefOf(bucket) ?? ""}
      isCount={kind === "count"}
      format={formatOf(measure)}
      axis={axisOf(measure)}
      heightPx={260}
    />
  );
}

interface Part {
  /** Null: nothing, or unknown. */
  readonly value: number | null;
  /** It leaves something out. */
  readonly isPartial: boolean;
}

function sumOf(totals: readonly (UsageTotal | null | undefined)[], measure: Measure): Part {
  const { kind, valueOf } = MEASURES[measure];
  const known = totals.flatMap((total) => (total == null ? [] : (valueOf(total) ?? [])));
  return {
    value: known.length === 0 ? null : known.reduce((sum, one) => sum + one),
    isPartial: kind === "usd" && totals.some((total) => total?.partial === true),
  };
}
