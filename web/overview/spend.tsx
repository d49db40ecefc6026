import { useState } from "react";
import { axisDollars, formatUsd } from "../format/figure.ts";
import { bucketName } from "../format/instants.ts";
import { Chart } from "../components/chart.tsx";
import { costText } from "../components/figure.tsx";
import type { UrlState } from "../state/url-state.ts";
import { printWindow } from "../state/time-range.ts";
import type { Go } from "../state/use-address.ts";
import type { Overview } from "./load-overview.ts";

interface SpendProps {
  readonly overview: Overview;
  readonly zone: string;
  readonly options: UrlState["options"];
  readonly go: Go;
}

/** Spend over time, with the period before as a line. A click opens the bucket, dragging zooms. */
export function Spend({ overview: { stats, before }, zone, options, go }: SpendProps) {
  const [hovered, setHovered] = useState<number | undefined>(undefined);
  const [xPx, setX] = useState(0);
  const times = stats.buckets.map(({ timestamp }) => Date.parse(timestamp));
  const endMs = Math.max((times.at(-1) ?? 0) + stats.granularity * 1000, Date.parse(stats.end));
  const ghost = times.map((_, at) => before?.buckets[at]?.total.total_cost ?? null);
  const open = (first: number, last: number): void =>
    go({
      view: "usage",
      options: {
        ...options,
        measure: "cost",
        window: printWindow({ fromMs: times[first] ?? 0, toMs: times[last + 1] ?? endMs }),
      },
    });
  const at = hovered === undefined ? undefined : stats.buckets[hovered];
  return (
    <section className="charted" aria-label="Spend over time">
      <h2>
        Spend <span className="dim">{before !== undefined && "and, dashed, the period before"}</span>
      </h2>
      <Chart
        label="Spend over time"
        {...{ times, endMs, zone, hovered }}
        heightPx={180}
        format={(value) => formatUsd(value).text}
        axis={axisDollars}
        isUnusual={(at) =>
          (times[at + 1] ?? endMs) > Date.parse(stats.end) || (times[at] ?? 0) < Date.parse(stats.start)
        }
        series={[
          {
            label: "spend",
            color: "--series-0",
            kind: "bars",
            values: stats.buckets.map(({ total }) => total.total_cost ?? null),
          },
          { label: "before", color: "--muted", kind: "ghost", values: ghost },
        ]}
        onHover={(index, point) => {
          setHovered(index);
          if (point !== undefined) setX(point.xPx);
        }}
        onClick={(index) => open(index, index)}
        onDrag={open}
      />
      {at !== undefined && hovered !== undefined && (
        <div
          className={`tooltip ${xPx > 480 ? "left" : ""}`}
          role="status"
          style={{ left: `${xPx}px`, top: "24px" }}
        >
          <strong>
            {bucketName(times[hovered] ?? 0, times[hovered + 1] ?? endMs, {
              zone,
              granularity: stats.granularity,
            })}
          </strong>
          <p>{costText(at.total)}</p>
          {before !== undefined && (
            <p className="dim">
              Previous period: {costText(before.buckets[hovered]?.total ?? { total_cost: 0 })}
            </p>
          )}
        </div>
      )}
    </section>
  );
}
