import { useMemo } from "react";
import type { UsageStats, UsageTotal } from "../api/routes.ts";
import type { ChartProps, ChartSeries } from "../components/chart-props.ts";
import { Chart } from "../components/chart.tsx";
import { axisDollars, formatCount, formatUsd } from "../format/figure.ts";
import { labelOf } from "../state/groups.ts";
import { COLORS, colorsOf, OTHER } from "./colors.ts";
import { MEASURES, type Measure } from "./load-usage.ts";

interface UsageChartProps extends Pick<ChartProps, "buckets" | "zone" | "hovered" | "onHover" | "onZoom"> {
  readonly stats: UsageStats;
  readonly measure: Measure;
  /** One line per group instead of a stack. */
  readonly asLines: boolean;
  /** The traces of a group in a bucket, or all of the bucket; undefined: they cannot be searched for. */
  readonly hrefOf: (bucket: number, group?: number) => string | undefined;
}

/** Bars or lines over local time: the first groups, each with a colour, and the rest as "other". */
export function UsageChart({ stats, measure, asLines, hrefOf, ...shared }: UsageChartProps) {
  const { groups, other, buckets } = stats;
  const isCost = measure === "cost";
  const series = useMemo((): readonly ChartSeries[] => {
    const labels = groups.map(({ key }) => labelOf(key));
    const colors = colorsOf(labels);
    const seriesOf = (label: string, parts: readonly Part[], group?: number): ChartSeries => ({
      label,
      color: (group !== undefined && colors.get(label)) || OTHER,
      kind: asLines ? "line" : "bars",
      values: parts.map(({ value }) => value),
      isPartial: parts.map(({ isPartial }) => isPartial),
      hrefOf: (bucket) => (group === undefined ? undefined : hrefOf(bucket, group)),
    });
    const named = labels.slice(0, COLORS).map((label, at) => {
      const parts = buckets.map(({ groups: { [at]: total } }) =>
        // a line is 0 where a group has no calls
        asLines && total == null ? { value: 0, isPartial: false } : sumOf([total], measure),
      );
      return seriesOf(label, parts, at);
    });
    if (groups.length <= COLORS && other === null) return named;
    const rest = buckets.map((bucket) => sumOf([...bucket.groups.slice(COLORS), bucket.other], measure));
    return [...named, seriesOf("other", rest)];
  }, [stats, measure, asLines, hrefOf]);
  return (
    <Chart
      label={`${MEASURES[measure].label} over time; the tables below have the numbers`}
      {...{ series, ...shared }}
      totals={buckets.map(({ total }) => sumOf([total], measure))}
      hrefOf={(bucket) => hrefOf(bucket) ?? ""}
      isCount={!isCost}
      format={isCost ? formatUsd : formatCount}
      {...(isCost && { axis: axisDollars })}
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
  const known = totals.flatMap((total) => total?.[MEASURES[measure].member] ?? []);
  return {
    value: known.length === 0 ? null : known.reduce((sum, one) => sum + one),
    isPartial: measure === "cost" && totals.some((total) => total?.partial === true),
  };
}
