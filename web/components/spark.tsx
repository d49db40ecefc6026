import { scaleLinear } from "@visx/scale";
import { edgesOf, type Buckets } from "./chart-buckets.ts";
import { ChartLines } from "./chart-lines.tsx";

interface SparkProps {
  readonly buckets: Pick<Buckets, "times" | "endMs">;
  readonly values: readonly (number | null)[];
}

const [WIDTH, HEIGHT] = [100, 32];

/** Values over time without axes, beside the number that they make up. */
export function Spark({ buckets, values }: SparkProps) {
  const known = values.filter((value) => value !== null);
  const [min, max] = [Math.min(0, ...known), Math.max(0, ...known)];
  const y = scaleLinear<number>({ domain: [min, max === min ? 1 : max], range: [HEIGHT - 2, 2] });
  const x = scaleLinear<number>({ domain: [buckets.times[0] ?? 0, buckets.endMs], range: [0, WIDTH] });
  return (
    <svg className="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <ChartLines
        series={[{ label: "", color: "--accent", kind: "line", values }]}
        middleOf={(at) => x(edgesOf(buckets, at).reduce((from, to) => (from + to) / 2))}
        y={y}
      />
    </svg>
  );
}
