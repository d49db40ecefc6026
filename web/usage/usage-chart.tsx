import { useMemo } from "react";
import type { UsageStats } from "../api/routes.ts";
import type { Buckets } from "../components/chart-buckets.ts";
import type { ChartProps } from "../components/chart-props.ts";
import { Chart } from "../components/chart.tsx";
import { axisDollars, formatCount, formatUsd } from "../format/figure.ts";
import { MEASURES, type Measure } from "./load-usage.ts";
import { isPartial, layersOf, valueOf } from "./stack.ts";

interface UsageChartProps extends Pick<ChartProps, "zone" | "hovered" | "onHover" | "onZoom"> {
  readonly stats: UsageStats;
  readonly buckets: Buckets;
  readonly measure: Measure;
  /** One line per group instead of a stack. */
  readonly asLines: boolean;
  /** The traces of a group in a bucket, or all of the bucket; undefined: they cannot be searched for. */
  readonly hrefOf: (bucket: number, group?: number) => string | undefined;
}

/** Bars or lines over local time, by group. */
export function UsageChart({ stats, measure, asLines, hrefOf, ...shared }: UsageChartProps) {
  const { member, label } = MEASURES[measure];
  const isCost = measure === "cost";
  const format = isCost ? formatUsd : formatCount;
  const series = useMemo(
    () =>
      layersOf(stats, member, asLines).map(({ group, ...layer }) => ({
        ...layer,
        kind: asLines ? ("line" as const) : ("bars" as const),
        hrefOf: (bucket: number) => (group === undefined ? undefined : hrefOf(bucket, group)),
      })),
    [stats, member, asLines, hrefOf],
  );
  const totals = stats.buckets.map(({ total }) => ({
    value: valueOf(total, member),
    isPartial: isPartial(total, member),
  }));
  return (
    <Chart
      label={`${label} over time; the tables below have the numbers`}
      {...{ series, totals, ...shared }}
      hrefOf={(bucket) => hrefOf(bucket) ?? ""}
      isCount={!isCost}
      format={format}
      {...(isCost && { axis: axisDollars })}
      heightPx={260}
    />
  );
}
