import type uPlot from "uplot";
import type { ChartProps } from "./chart-props.ts";

/** The bucket that an instant lies in, however long it is; undefined: in none. */
export function bucketAt(
  { times, endMs }: Pick<ChartProps, "times" | "endMs">,
  ms: number,
): number | undefined {
  const first = times[0];
  if (first === undefined || ms < first || ms > endMs) return undefined;
  let [low, high] = [0, times.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle]! <= ms) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The bars of all buckets, each over the time that it covers, and the one that is pointed at behind them. */
export function drawBuckets(plot: uPlot, props: ChartProps, color: (name: string) => string): void {
  const { times, endMs, series, hovered, isUnusual } = props;
  const { ctx: context, bbox } = plot;
  const x = (ms: number): number => plot.valToPos(ms / 1000, "x", true);
  const y = (value: number): number => plot.valToPos(value, "y", true);
  context.save();
  context.beginPath();
  context.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  context.clip();
  const edges = times.map((ms, at) => [x(ms), x(times[at + 1] ?? endMs)] as const);
  const pointed = hovered === undefined ? undefined : edges[hovered];
  if (pointed !== undefined) {
    context.fillStyle = color("--chosen");
    context.fillRect(pointed[0], bbox.top, pointed[1] - pointed[0], bbox.height);
  }
  const bottom = y(0);
  for (const { kind, color: name, values } of series) {
    if (kind !== "bars") continue;
    context.fillStyle = color(name);
    for (const [at, value] of values.entries()) {
      const edge = edges[at];
      if (value === null || value === 0 || edge === undefined) continue;
      const [left, right] = edge;
      const gap = Math.min(2 * devicePixelRatio, (right - left) * 0.15);
      const top = Math.min(y(value), bottom - 1);
      context.fillRect(left + gap / 2, top, Math.max(1, right - left - gap), bottom - top);
    }
  }
  for (const [at, [left, right]] of edges.entries()) {
    if (isUnusual?.(at) !== true) continue;
    hatch(context, { left, right, top: bbox.top, bottom, color: color("--paper"), line: color("--muted") });
  }
  for (const { kind, color: name, values } of series)
    if (kind === "ghost") drawGhost(context, { values, edges, y, color: color(name) });
  context.restore();
}

interface Ghost {
  readonly values: readonly (number | null)[];
  readonly edges: readonly (readonly [number, number])[];
  readonly y: (value: number) => number;
  readonly color: string;
}

/** A dashed line through the middles of the buckets. */
function drawGhost(context: CanvasRenderingContext2D, { values, edges, y, color }: Ghost): void {
  context.save();
  context.strokeStyle = color;
  context.lineWidth = 1.5 * devicePixelRatio;
  context.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
  context.beginPath();
  for (const [at, value] of values.entries()) {
    const edge = edges[at];
    if (value === null || edge === undefined) continue;
    const x = (edge[0] + edge[1]) / 2;
    if (at === 0 || values[at - 1] === null) context.moveTo(x, y(value));
    else context.lineTo(x, y(value));
  }
  context.stroke();
  context.restore();
}

interface Hatched {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  readonly color: string;
  readonly line: string;
}

/** Lines over a bucket, and a line at its foot that shows where nothing else is. */
function hatch(context: CanvasRenderingContext2D, { left, right, top, bottom, color, line }: Hatched): void {
  const step = 7 * devicePixelRatio;
  context.save();
  context.beginPath();
  context.rect(left, top, right - left, bottom - top);
  context.clip();
  context.strokeStyle = color;
  context.lineWidth = 1.5 * devicePixelRatio;
  context.beginPath();
  for (let from = left - (bottom - top); from < right; from += step) {
    context.moveTo(from, bottom);
    context.lineTo(from + (bottom - top), top);
  }
  context.stroke();
  context.fillStyle = line;
  for (let from = left; from < right; from += step)
    context.fillRect(from, bottom - 2 * devicePixelRatio, step / 2, 2 * devicePixelRatio);
  context.restore();
}
