import { LinePath } from "@visx/shape";
import type { ChartSeries } from "./chart-props.ts";

interface ChartLinesProps {
  readonly series: readonly ChartSeries[];
  readonly middleOf: (bucket: number) => number;
  readonly y: (value: number) => number;
}

/** Lines through the middles of buckets, with gaps where a value is unknown. */
export function ChartLines({ series, middleOf, y }: ChartLinesProps) {
  return series
    .filter(({ kind }) => kind !== "bars")
    .map(({ kind, color, values }, key) => (
      <LinePath
        key={key}
        data={[...values]}
        x={(_, at) => middleOf(at)}
        y={(value) => y(value ?? 0)}
        defined={(value) => value !== null}
        className={kind}
        stroke={`var(${color})`}
        strokeWidth={1.5}
        vectorEffect="non-scaling-stroke"
      />
    ));
}
