import { useMemo, useState } from "react";
import { bucketsOf, windowOf } from "../components/chart-buckets.ts";
import type { ChartSeries } from "../components/chart-props.ts";
import { Chart } from "../components/chart.tsx";
import { axisDollars, formatUsd } from "../format/figure.ts";
import { printWindow } from "../state/time-range.ts";
import type { OverviewPart } from "./load-overview.ts";

/** Spend over time, with the period before as a line. */
export function Spend({ overview: { stats, before, question }, hrefTo }: OverviewPart) {
  const { zone } = question;
  const [hovered, setHovered] = useState<number | undefined>(undefined);
  const buckets = useMemo(() => bucketsOf(stats, zone), [stats, zone]);
  const series = useMemo((): readonly ChartSeries[] => {
    const earlier = stats.buckets.map((_, at) => before?.buckets[at]?.total);
    const ghost: ChartSeries = {
      label: "Period before",
      color: "--ink",
      kind: "ghost",
      values: earlier.map((total) => total?.total_cost ?? null),
      isPartial: earlier.map((total) => total?.partial === true),
    };
    return [
      {
        label: "Spend",
        color: "--accent",
        kind: "bars",
        values: stats.buckets.map(({ total }) => total.total_cost ?? null),
        isPartial: stats.buckets.map(({ total }) => total.partial === true),
        hrefOf: (bucket) =>
          hrefTo("traces", { window: printWindow(windowOf(buckets, bucket)), sort: "cost" }),
      },
      ...(before === undefined ? [] : [ghost]),
    ];
  }, [stats, before, buckets, hrefTo]);
  const usageOf = (window: { readonly fromMs: number; readonly toMs: number }): string =>
    hrefTo("usage", { measure: "cost", window: printWindow(window) });
  return (
    <section aria-label="Spend over time">
      <h2>
        Spend <span className="dim">{before !== undefined && "and, dashed, the period before"}</span>
      </h2>
      <Chart
        label="Spend over time"
        {...{ buckets, series, zone, hovered }}
        format={formatUsd}
        axis={axisDollars}
        heightPx={180}
        onHover={setHovered}
        hrefOf={(bucket) => usageOf(windowOf(buckets, bucket))}
        onZoom={(window) => location.assign(usageOf(window))}
      />
    </section>
  );
}
