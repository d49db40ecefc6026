import { PatternLines } from "@visx/pattern";
import { useCallback, useId, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { flushSync } from "react-dom";
import { bucketAt, edgesOf, nameOf, noteOf, timeTicks, windowOf } from "./chart-buckets.ts";
import { geometryOf, pathOf, type Geometry } from "./chart-geometry.ts";
import { ChartLines } from "./chart-lines.tsx";
import type { ChartProps } from "./chart-props.ts";
import { ChartTooltip } from "./chart-tooltip.tsx";
import { useDrag } from "./use-drag.ts";

/** Above this, a series is one path, and only the bucket that is pointed at or focused has links. */
const MAX_ELEMENTS = 800;
/** Between the texts of the axis. */
const APART_PX = 58;

/** Bars and lines over local time. Every bucket is a link, and every part of a bar; dragging zooms. */
export function Chart(props: ChartProps) {
  const { label, buckets, series, zone, heightPx, hovered, onHover, onZoom } = props;
  const [widthPx, setWidth] = useState(0);
  const [focusable, setFocusable] = useState(0);
  const svg = useRef<SVGSVGElement>(null);
  const host = useCallback((element: HTMLDivElement) => {
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const geometry = useMemo(
    () => geometryOf(props, widthPx),
    [buckets, series, heightPx, widthPx, props.isCount, props.format],
  );
  const bucketOf = (clientX: number): number =>
    bucketAt(buckets, geometry.msAt(clientX - (svg.current?.getBoundingClientRect().left ?? 0)));
  const { range, handlers } = useDrag(bucketOf, (first, last) => onZoom(windowOf(buckets, first, last)));
  const focused = Math.min(focusable, buckets.times.length - 1);
  const moveTo = (event: KeyboardEvent): void => {
    const last = buckets.times.length - 1;
    const next = { ArrowLeft: focused - 1, ArrowRight: focused + 1, Home: 0, End: last }[event.key];
    if (next === undefined || next < 0 || next > last) return;
    event.preventDefault();
    flushSync(() => setFocusable(next));
    svg.current?.querySelector<SVGAElement>(`[data-bucket="${next}"]`)?.focus();
  };
  const [first, last] = range ?? [0, 0];
  const dragged = [edgesOf(buckets, first)[0], edgesOf(buckets, last)[1]].map(geometry.x) as [number, number];
  const middle = hovered === undefined ? 0 : geometry.middleOf(hovered);
  return (
    <div ref={host} className="charted" style={{ minHeight: `${heightPx}px` }}>
      {widthPx > 0 && buckets.times.length > 0 && (
        <svg
          ref={svg}
          className="chart"
          viewBox={`0 0 ${widthPx} ${heightPx}`}
          height={heightPx}
          role="group"
          aria-label={label}
          {...handlers}
          onPointerMove={(event) => {
            handlers.onPointerMove(event);
            onHover(bucketOf(event.clientX));
          }}
          onPointerLeave={() => onHover(undefined)}
          onKeyDown={moveTo}
        >
          <Axes {...{ geometry, buckets, zone, heightPx }} />
          <Plot {...props} {...{ geometry, focused }} onFocus={setFocusable} />
          {range !== undefined && (
            <rect
              className="dragged"
              x={dragged[0]}
              y={geometry.top}
              width={dragged[1] - dragged[0]}
              height={geometry.bottom - geometry.top}
            />
          )}
        </svg>
      )}
      {hovered !== undefined && hovered < buckets.times.length && range === undefined && (
        <ChartTooltip {...props} bucket={hovered} xPx={middle} part={middle / (widthPx || 1)} />
      )}
    </div>
  );
}

type AxesProps = Pick<ChartProps, "buckets" | "zone" | "heightPx"> & { readonly geometry: Geometry };

function Axes({ geometry, buckets, zone, heightPx }: AxesProps) {
  const { left, right, bottom, x } = geometry;
  const times = useMemo(
    () => timeTicks(buckets, zone, (from, to) => x(to) - x(from) >= APART_PX),
    [buckets, zone, x],
  );
  return (
    <g className="axes" aria-hidden="true">
      {geometry.ticks.map(({ y, text }) => (
        <g key={text}>
          <line x1={left} x2={right} y1={y} y2={y} />
          <text x={left - 8} y={y} dy="0.32em" textAnchor="end">
            {text}
          </text>
        </g>
      ))}
      {times.map(({ ms, text }) => (
        <g key={ms}>
          <line x1={x(ms)} x2={x(ms)} y1={bottom} y2={bottom + 4} />
          <text x={x(ms)} y={heightPx - 8} textAnchor="middle">
            {text}
          </text>
        </g>
      ))}
    </g>
  );
}

interface PlotProps extends ChartProps {
  readonly geometry: Geometry;
  readonly focused: number;
  readonly onFocus: (bucket: number) => void;
}

function Plot(props: PlotProps) {
  const { buckets, series, geometry, hovered, focused } = props;
  const id = useId();
  const bars = series.filter(({ kind }) => kind === "bars");
  const isMany = buckets.times.length * (1 + bars.length) > MAX_ELEMENTS;
  const paths = useMemo(
    () => (isMany ? bars.map((one) => ({ ...one, d: pathOf(geometry.segments, one) })) : []),
    [geometry, isMany],
  );
  const linked = isMany ? new Set([focused, hovered ?? focused]) : buckets.times.keys();
  const lines = { orientation: ["diagonal" as const], width: 7, height: 7, strokeWidth: 1.2 };
  return (
    <>
      <PatternLines id={`${id}-empty`} {...lines} stroke="var(--line)" />
      <PatternLines id={`${id}-bar`} {...lines} stroke="var(--paper)" />
      {paths.map(({ color, d }, at) => (
        <path key={at} d={d} fill={`var(${color})`} />
      ))}
      {[...linked].map((at) => (
        <Bucket key={at} at={at} {...props} pattern={id} />
      ))}
      <ChartLines {...{ series }} {...geometry} />
    </>
  );
}

function Bucket({ at, pattern, ...props }: PlotProps & { readonly at: number; readonly pattern: string }) {
  const { buckets, geometry, zone, format, totals, hovered, focused, hrefOf, onHover, onFocus } = props;
  const [x, end] = edgesOf(buckets, at).map(geometry.x) as [number, number];
  const { top, bottom } = geometry;
  const segments = geometry.segments[at] ?? [];
  const note = noteOf(buckets, at, zone);
  const total = totals?.[at]?.value;
  const whole = { x, y: top, width: Math.max(0, end - x), height: bottom - top };
  const barsTop = segments.at(-1)?.y ?? bottom;
  const hatched = (kind: string) => `url(#${pattern}-${kind})`;
  return (
    <g className={at === hovered ? "bucket hovered" : "bucket"}>
      {note !== undefined && <rect {...whole} fill={hatched("empty")} />}
      <a
        href={hrefOf(at)}
        data-bucket={at}
        tabIndex={at === focused ? 0 : -1}
        aria-label={[nameOf(buckets, at, zone), total == null ? [] : format(total).text, note ?? []]
          .flat()
          .join(", ")}
        onFocus={() => {
          onFocus(at);
          onHover(at);
        }}
        onBlur={() => onHover(undefined)}
      >
        <rect className="target" {...whole} />
      </a>
      {segments.map(({ series: { color, hrefOf: hrefOfPart }, ...place }, part) => (
        <a key={part} href={hrefOfPart?.(at) ?? hrefOf(at)} tabIndex={-1} aria-hidden="true">
          <rect className="segment" {...place} fill={`var(${color})`} />
        </a>
      ))}
      {note !== undefined && barsTop < bottom && (
        <rect className="over" {...whole} y={barsTop} height={bottom - barsTop} fill={hatched("bar")} />
      )}
    </g>
  );
}
