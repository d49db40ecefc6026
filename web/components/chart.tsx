import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { tick } from "../format/instants.ts";
import { onTheme } from "../state/theme.ts";
import { bucketAt, drawBuckets } from "./chart-buckets.ts";
import type { ChartProps } from "./chart-props.ts";

/** Series over local time, on a canvas. A table beside it has the same numbers. */
export function Chart(props: ChartProps) {
  const host = useRef<HTMLDivElement>(null);
  const drawn = useRef<uPlot | undefined>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const { label, heightPx, hovered } = props;
  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const plot = new uPlot(optionsOf(latest, element), dataOf(props), element);
    drawn.current = plot;
    const resize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: heightPx }));
    resize.observe(element);
    const stop = onTheme(() => plot.redraw());
    return () => {
      resize.disconnect();
      stop();
      plot.destroy();
    };
  }, [JSON.stringify([props.times, props.endMs, props.series, props.zone, heightPx])]);
  useEffect(() => drawn.current?.redraw(false), [hovered]);
  const described =
    props.bare === true ? { "aria-hidden": true } : { role: "img" as const, "aria-label": label };
  return <div ref={host} className="chart" style={{ height: `${heightPx}px` }} {...described} />;
}

function dataOf({ times, series }: ChartProps): uPlot.AlignedData {
  return [times.map((ms) => ms / 1000), ...series.map(({ values }) => [...values])];
}

interface Latest {
  readonly current: ChartProps;
}

const FONT = "11px system-ui, sans-serif";

function optionsOf(latest: Latest, element: HTMLElement): uPlot.Options {
  const props = latest.current;
  const { series, zone, heightPx, bare = false, isCount = false, format, bands = [] } = props;
  const color = (name: string): string => getComputedStyle(element).getPropertyValue(name);
  const axis = {
    stroke: () => color("--muted"),
    grid: { stroke: () => color("--line"), width: 1 },
    ticks: { show: false },
    font: FONT,
  };
  return {
    width: element.clientWidth,
    height: heightPx,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), zone),
    legend: { show: false },
    cursor: cursorOf(latest),
    padding: bare ? [2, 2, 2, 2] : [10, 24, 0, 0],
    axes: [
      {
        ...axis,
        show: !bare,
        size: 28,
        space: 70,
        values: (_plot, ticks) => ticks.map((seconds) => tick(seconds * 1000, zone)),
      },
      {
        ...axis,
        show: !bare,
        // as wide as its texts, which never clip
        size: (_plot, texts: readonly string[] | null) =>
          18 + 7 * Math.max(3, ...(texts ?? []).map(({ length }) => length)),
        values: (_plot, ticks) => ticks.map(props.axis ?? format),
        ...(isCount && { incrs: WHOLE }),
      },
    ],
    scales: {
      x: { range: () => [(latest.current.times[0] ?? 0) / 1000, latest.current.endMs / 1000] },
      y: { range: (_plot, min, max) => [Math.min(0, min ?? 0), max == null || max <= 0 ? 1 : max * 1.05] },
    },
    series: [
      {},
      ...series.map(({ label, color: name, kind }) => ({
        label,
        stroke: () => color(name),
        width: kind === "line" ? 1.5 : 0,
        points: { show: kind === "line" && latest.current.times.length < 40, size: 4 },
        ...((kind === "bars" || kind === "ghost") && { paths: () => null }),
      })),
    ],
    bands: bands.map(({ between: [upper, lower], color: name }) => ({
      series: [upper + 1, lower + 1] as [number, number],
      fill: () => color(name),
    })),
    hooks: hooksOf(latest, color),
  };
}

/** Steps of the axis of counts. */
const WHOLE = Array.from({ length: 16 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat();

function cursorOf(latest: Latest): uPlot.Cursor {
  const { bare = false, onDrag } = latest.current;
  return {
    show: !bare,
    x: false,
    y: false,
    points: { show: false },
    drag: { setScale: false, x: onDrag !== undefined, y: false, dist: 6 },
  };
}

/** Drawing the buckets, and what pointing, dragging and clicking do. */
function hooksOf(latest: Latest, color: (name: string) => string): uPlot.Hooks.Arrays {
  return {
    drawAxes: [(plot) => drawBuckets(plot, latest.current, color)],
    setCursor: [
      (plot) => {
        const { left = -1, top = -1 } = plot.cursor;
        const index = left < 0 ? undefined : bucketAt(latest.current, plot.posToVal(left, "x") * 1000);
        latest.current.onHover?.(index, {
          xPx: plot.over.offsetLeft + left,
          yPx: plot.over.offsetTop + top,
        });
      },
    ],
    setSelect: [
      (plot) => {
        const { left, width } = plot.select;
        if (width < 4) return;
        const at = (px: number) => bucketAt(latest.current, plot.posToVal(px, "x") * 1000);
        const [first, last] = [at(left), at(left + width - 1)];
        plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        if (first !== undefined && last !== undefined) latest.current.onDrag?.(first, last);
      },
    ],
    ready: [
      (plot) => {
        plot.over.addEventListener("click", ({ offsetX, offsetY }) => {
          const index = bucketAt(latest.current, plot.posToVal(offsetX, "x") * 1000);
          if (index !== undefined) latest.current.onClick?.(index, plot.posToVal(offsetY, "y"));
        });
      },
    ],
  };
}
