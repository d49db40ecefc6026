import { useMemo } from "preact/hooks";
import type { UsageStats } from "../api/routes.ts";
import { Chart } from "../parts/chart.tsx";
import { MEASURES, type Measure } from "./load-usage.ts";
import { layersOf, lineLayersOf, stacked } from "./stack.ts";
import { figureOf } from "./usage-summary.tsx";

interface UsageChartProps {
  readonly stats: UsageStats;
  readonly zone: string;
  readonly measure: Measure;
  /** One line per group instead of a stack. */
  readonly asLines: boolean;
  readonly hovered: number | undefined;
  readonly onHover: (index: number | undefined) => void;
}

export function UsageChart({ stats, zone, measure, asLines, hovered, onHover }: UsageChartProps) {
  const times = useMemo(() => stats.buckets.map(({ timestamp }) => Date.parse(timestamp)), [stats]);
  const series = useMemo(() => {
    const { member } = MEASURES[measure];
    if (asLines) return lineLayersOf(stats, member).map((layer) => ({ ...layer, kind: "line" as const }));
    return stacked(layersOf(stats, member)).map((layer) => ({ ...layer, kind: "bars" as const }));
  }, [stats, measure, asLines]);
  return (
    <Chart
      label={`${MEASURES[measure].label} over time; the tables below have the numbers`}
      {...{ times, series, zone, hovered, onHover }}
      endMs={(times.at(-1) ?? 0) + stats.granularity * 1000}
      heightPx={260}
      format={(value) => figureOf(measure)(value).text}
    />
  );
}
