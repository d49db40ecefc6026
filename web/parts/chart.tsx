import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { tick } from "../numbers/instants.ts";
import { onTheme } from "../state/theme.ts";

export interface ChartSeries {
  readonly label: string;
  /** The name of a colour in the style sheet. */
  readonly color: string;
  readonly values: readonly (number | null)[];
  readonly kind: "line" | "bars" | "hidden";
}

interface ChartProps {
  readonly label: string;
  /** The start of each bucket, in ms. */
  readonly times: readonly number[];
  /** The end of the last bucket. */
  readonly endMs: number;
  readonly series: readonly ChartSeries[];
  /** Bands between two series, by their indexes, as for percentiles. */
  readonly bands?: readonly { readonly between: readonly [number, number]; readonly color: string }[];
  readonly zone: string;
  readonly heightPx: number;
  /** Small ones have no axes. */
  readonly bare?: boolean;
  readonly format: (value: number) => string;
  readonly onHover?: (index: number | undefined) => void;
  /** The bucket to highlight. */
  readonly hovered?: number | undefined;
}

/** Series over local time, on a canvas. A table beside it has the same numbers. */
export function Chart(props: ChartProps) {
  const host = useRef<HTMLDivElement>(null);
  const drawn = useRef<uPlot | undefined>(undefined);
  const { label, heightPx, hovered, times } = props;
  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const plot = new uPlot(optionsOf(props, element), dataOf(props), element);
    drawn.current = plot;
    const resize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: heightPx }));
    resize.observe(element);
    const stop = onTheme(() => plot.redraw());
    return () => {
      resize.disconnect();
      stop();
      plot.destroy();
    };
  }, [JSON.stringify([props.times, props.series, props.zone, heightPx])]);
  useEffect(() => {
    const plot = drawn.current;
    const at = hovered === undefined ? undefined : times[hovered];
    if (plot === undefined || at === undefined || plot.cursor.idx === hovered) return;
    plot.setCursor({ left: plot.valToPos(at / 1000, "x"), top: 0 }, false);
  }, [hovered, times]);
  const described =
    props.bare === true ? { "aria-hidden": true } : { role: "img" as const, "aria-label": label };
  return <div ref={host} class="chart" style={{ height: `${heightPx}px` }} {...described} />;
}

function dataOf({ times, series }: ChartProps): uPlot.AlignedData {
  return [times.map((ms) => ms / 1000), ...series.map(({ values }) => [...values])];
}

function optionsOf(props: ChartProps, element: HTMLElement): uPlot.Options {
  const { series, zone, heightPx, bare = false, format, bands = [], onHover } = props;
  const color = (name: string): string => getComputedStyle(element).getPropertyValue(name);
  const axis = {
    stroke: () => color("--muted"),
    grid: { stroke: () => color("--line"), width: 1 },
    ticks: { show: false },
    font: "11px system-ui, sans-serif",
  };
  const bars = uPlot.paths.bars;
  return {
    width: element.clientWidth,
    height: heightPx,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), zone),
    legend: { show: false },
    cursor: { show: !bare, points: { show: false }, drag: { setScale: false } },
    padding: bare ? [2, 2, 2, 2] : [8, 24, 0, 0],
    axes: [
      {
        ...axis,
        show: !bare,
        size: 28,
        values: (_plot, ticks) => ticks.map((seconds) => tick(seconds * 1000, zone)),
      },
      { ...axis, show: !bare, size: 64, values: (_plot, ticks) => ticks.map(format) },
    ],
    scales: {
      x: { range: (_plot, min) => [min, props.endMs / 1000] },
      y: { range: (_plot, min, max) => [Math.min(0, min), max <= 0 ? 1 : max * 1.05] },
    },
    series: [
      {},
      ...series.map(({ label, color: name, kind }) => ({
        label,
        stroke: () => color(name),
        width: kind === "line" ? 1.5 : 0,
        points: { show: kind === "line" && props.times.length < 40, size: 4 },
        ...(kind === "bars" && {
          fill: () => color(name),
          ...(bars && { paths: bars({ size: [0.92, Infinity], align: 1 }) }),
        }),
      })),
    ],
    bands: bands.map(({ between: [upper, lower], color: name }) => ({
      series: [upper + 1, lower + 1] as [number, number],
      fill: () => color(name),
    })),
    hooks: { setCursor: [({ cursor }) => onHover?.(cursor.idx ?? undefined)] },
  };
}
