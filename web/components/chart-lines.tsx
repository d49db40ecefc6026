import { Area, LinePath } from "@visx/shape";
import type { ChartSeries } from "./chart-props.ts";

interface ChartLinesProps {
  readonly series: readonly ChartSeries[];
  readonly middleOf: (bucket: number) => number;
  readonly y: (value: number) => number;
}

/** Lines through the middles of buckets, with gaps where a value is unknown; dashed ones, and bands. */
export function ChartLines({ series, middleOf, y }: ChartLinesProps) {
  return series.map(({ kind, color, values, from }, key) => {
    if (kind === "bars") return null;
    const shared = {
      data: values.map((value, at) => ({ value, from: from?.[at] ?? null, x: middleOf(at) })),
      x: ({ x }: { readonly x: number }) => x,
    };
    if (kind === "band")
      return (
        <Area
          key={key}
          {...shared}
          y0={({ from }) => y(from ?? 0)}
          y1={({ value }) => y(value ?? 0)}
          defined={({ value, from }) => value !== null && from !== null}
          fill={`var(${color})`}
        />
      );
    return (
      <LinePath
        key={key}
        {...shared}
        y={({ value }) => y(value ?? 0)}
        defined={({ value }) => value !== null}
        className={kind}
        stroke={`var(${color})`}
        vectorEffect="non-scaling-stroke"
      />
    );
  });
}
