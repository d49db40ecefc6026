import { scaleLinear } from "@visx/scale";
import { edgesOf, type Buckets } from "./chart-buckets.ts";
import type { ChartProps, ChartSeries } from "./chart-props.ts";

/** A part of a bar. */
export interface Segment {
  readonly series: ChartSeries;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Geometry {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  readonly x: (ms: number) => number;
  readonly msAt: (x: number) => number;
  readonly y: (value: number) => number;
  readonly middleOf: (bucket: number) => number;
  readonly ticks: readonly { readonly y: number; readonly text: string }[];
  /** By bucket, from the bottom up. */
  readonly segments: readonly (readonly Segment[])[];
}

const [TOP_PX, RIGHT_PX, BOTTOM_PX, CHAR_PX] = [10, 24, 26, 6.5];

type Drawn = Pick<ChartProps, "buckets" | "series" | "heightPx" | "isCount" | "format" | "axis">;

/** Computes the places of axes and bars in px. The left margin fits the texts of the axis. */
export function geometryOf(props: Drawn, widthPx: number): Geometry {
  const { buckets, series, heightPx, isCount = false, format, axis = (value) => format(value).text } = props;
  const bars = series.filter(({ kind }) => kind === "bars");
  const tops = buckets.times.map((_, at) => bars.reduce((sum, { values }) => sum + (values[at] ?? 0), 0));
  const others = series.filter(({ kind }) => kind !== "bars");
  const known = [...others.flatMap(({ values }) => values), ...tops];
  const [low, high] = known.reduce<[number, number]>(
    ([min, max], value) => [Math.min(min, value ?? 0), Math.max(max, value ?? 0)],
    [0, 0],
  );
  const [top, bottom] = [TOP_PX, heightPx - BOTTOM_PX];
  const domain = low === high ? [0, 1] : [low, high];
  const y = scaleLinear<number>({ domain, range: [bottom, top], nice: 5 });
  const ticks = y
    .ticks(5)
    .filter((value) => !isCount || Number.isInteger(value))
    .map((value) => ({ y: y(value), text: axis(value) }));
  const left = 14 + CHAR_PX * Math.max(3, ...ticks.map(({ text }) => text.length));
  const right = Math.max(left + 1, widthPx - RIGHT_PX);
  const x = scaleLinear<number>({ domain: [buckets.times[0] ?? 0, buckets.endMs], range: [left, right] });
  return {
    left,
    right,
    top,
    bottom,
    x,
    y,
    ticks,
    msAt: (px) => x.invert(px),
    middleOf: (at) => x(edgesOf(buckets, at).reduce((from, to) => (from + to) / 2)),
    segments: segmentsOf(buckets, bars, { x, y }),
  };
}

/** The bars of all buckets, each over the time that it covers. */
function segmentsOf(
  buckets: Pick<Buckets, "times" | "endMs">,
  bars: readonly ChartSeries[],
  { x, y }: Pick<Geometry, "x" | "y">,
): readonly (readonly Segment[])[] {
  return buckets.times.map((_, at) => {
    const [from, to] = edgesOf(buckets, at).map(x) as [number, number];
    const gap = Math.min(2, (to - from) * 0.15);
    let sum = 0;
    return bars.flatMap((series): Segment[] => {
      const value = series.values[at] ?? 0;
      if (value === 0) return [];
      const below = y(sum);
      sum += value;
      const top = Math.min(y(sum), below - 1);
      return [
        { series, x: from + gap / 2, y: top, width: Math.max(1, to - from - gap), height: below - top },
      ];
    });
  });
}

/** One path for all bars of a series. */
export function pathOf(segments: readonly (readonly Segment[])[], series: ChartSeries): string {
  return segments
    .flat()
    .filter((segment) => segment.series === series)
    .map(({ x, y, width, height }) => `M${x},${y}h${width}v${height}h${-width}z`)
    .join("");
}
