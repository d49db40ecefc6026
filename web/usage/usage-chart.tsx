import { useMemo, useState } from "react";
import type { UsageStats } from "../api/routes.ts";
import { axisDollars, formatUsd, formatPercent, formatCount } from "../format/figure.ts";
import { bucketName } from "../format/instants.ts";
import { oneLine } from "../format/plain-text.ts";
import { Chart } from "../components/chart.tsx";
import { MEASURES, type Measure } from "./load-usage.ts";
import { layerAt, layersOf, lineLayersOf, stacked, sumOfKnown, type Layer } from "./stack.ts";

interface UsageChartProps {
  readonly stats: UsageStats;
  readonly zone: string;
  readonly measure: Measure;
  /** One line per group instead of a stack. */
  readonly asLines: boolean;
  readonly hovered: number | undefined;
  readonly onHover: (index: number | undefined) => void;
  /** A click on a group of a bucket; undefined: on the bucket, or on what has no group. */
  readonly onOpen: (bucket: number, group: number | undefined) => void;
  readonly onZoom: (fromMs: number, toMs: number) => void;
}

interface Pointer {
  readonly xPx: number;
  readonly yPx: number;
}

/** Bars or lines over local time. Pointing tells, a click filters, dragging zooms. */
export function UsageChart(props: UsageChartProps) {
  const { stats, zone, measure, asLines, hovered, onHover, onOpen, onZoom } = props;
  const [pointer, setPointer] = useState<Pointer>({ xPx: 0, yPx: 0 });
  const times = useMemo(() => stats.buckets.map(({ timestamp }) => Date.parse(timestamp)), [stats]);
  const endMs = endOf(stats, times);
  const { member } = MEASURES[measure];
  const layers = useMemo(() => layersOf(stats, member), [stats, member]);
  const series = useMemo(() => {
    if (asLines) return lineLayersOf(stats, member).map((layer) => ({ ...layer, kind: "line" as const }));
    return stacked(layers).map((layer) => ({ ...layer, kind: "bars" as const }));
  }, [stats, layers, member, asLines]);
  const lengthOf = (at: number): number => (times[at + 1] ?? endMs) - (times[at] ?? 0);
  const isUnusual = (at: number): boolean =>
    (times[at + 1] ?? endMs) > Date.parse(stats.end) ||
    (times[at] ?? 0) < Date.parse(stats.start) ||
    lengthOf(at) !== stats.granularity * 1000;
  const format = (value: number): string => (measure === "cost" ? formatUsd(value) : formatCount(value)).text;
  return (
    <div className="charted">
      <Chart
        label={`${MEASURES[measure].label} over time; the tables below have the numbers`}
        {...{ times, endMs, series, zone, hovered, isUnusual, format }}
        isCount={measure !== "cost"}
        {...(measure === "cost" && { axis: axisDollars })}
        heightPx={260}
        onHover={(index, at) => {
          onHover(index);
          if (at !== undefined) setPointer(at);
        }}
        onClick={(index, value) => onOpen(index, asLines ? undefined : layerAt(layers, index, value)?.group)}
        onDrag={(first, last) => onZoom(times[first] ?? 0, times[last + 1] ?? endMs)}
      />
      {hovered !== undefined && (
        <Tooltip
          at={pointer}
          name={bucketName(times[hovered] ?? 0, times[hovered + 1] ?? endMs, {
            zone,
            granularity: stats.granularity,
          })}
          isUnfinished={isUnusual(hovered)}
          bucket={hovered}
          {...{ layers, format }}
        />
      )}
    </div>
  );
}

/** The end of the last bucket: a day of the clock as well, however many hours it has. */
function endOf(stats: UsageStats, times: readonly number[]): number {
  return Math.max((times.at(-1) ?? 0) + stats.granularity * 1000, Date.parse(stats.end));
}

interface TooltipProps {
  readonly at: Pointer;
  readonly name: string;
  readonly isUnfinished: boolean;
  readonly bucket: number;
  readonly layers: readonly Layer[];
  readonly format: (value: number) => string;
}

function Tooltip({ at, name, isUnfinished, bucket, layers, format }: TooltipProps) {
  const shown = layers.filter(({ values, isPartial }) => values[bucket] !== null || isPartial[bucket]);
  const total = sumOfKnown(shown.map(({ values }) => values[bucket] ?? null));
  const isTotalPartial = shown.some(({ isPartial }) => isPartial[bucket]);
  const text = (value: number | null, isPartial = false): string =>
    value === null ? "—" : `${isPartial ? "≥ " : ""}${format(value)}`;
  return (
    <div
      className={`tooltip ${at.xPx > 480 ? "left" : ""}`}
      role="status"
      style={{ left: `${at.xPx}px`, top: `${Math.min(at.yPx, 120)}px` }}
    >
      <strong>{name}</strong>
      {isUnfinished && <span className="dim"> not over, or not whole</span>}
      <table>
        <tbody>
          {shown.toReversed().map(({ label, color, values, isPartial }) => {
            const value = values[bucket] ?? null;
            return (
              <tr key={label}>
                <th scope="row">
                  <i className="swatch" style={{ background: `var(${color})` }} />
                  <bdi>{oneLine(label, 40)}</bdi>
                </th>
                <td className="number">{text(value, isPartial[bucket])}</td>
                <td className="number dim">
                  {value !== null && total !== null && total > 0 && formatPercent(value / total).text}
                </td>
              </tr>
            );
          })}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">all</th>
            <td className="number">{shown.length === 0 ? format(0) : text(total, isTotalPartial)}</td>
            <td />
          </tr>
        </tfoot>
      </table>
    </div>
  );
}
