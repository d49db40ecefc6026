import { useState } from "react";
import { plainNumber, formatPercent, formatCount, type FormattedNumber } from "../format/figure.ts";
import { bucketName } from "../format/instants.ts";
import { oneLine } from "../format/plain-text.ts";
import { Chart } from "../components/chart.tsx";
import type { ChartSeries } from "../components/chart-props.ts";
import { FormattedValue, Unknown } from "../components/figure.tsx";
import type { TimeRange } from "../state/time-range.ts";
import { LabelShares } from "./label-shares.tsx";
import type { LoadedFeedback, PathStats } from "./load-feedback.ts";
import { rateOf, valueOf } from "./path-card.tsx";

interface PathDetailsProps {
  readonly stats: PathStats;
  readonly loaded: LoadedFeedback;
  readonly project: string;
  readonly zone: string;
  readonly window: TimeRange;
}

/** A path in detail: percentiles as bands, rates with their counts, labels as shares, and every bucket in a table. */
export function PathDetails({ stats, loaded, project, zone, window }: PathDetailsProps) {
  const { path, buckets } = stats;
  const [hovered, setHovered] = useState<number | undefined>(undefined);
  const isBoolean = path.value_type === "boolean";
  const format = (value: number): string => (isBoolean ? formatPercent(value) : plainNumber(value)).text;
  return (
    <section className="path-details" aria-label={path.json_path}>
      <h2>
        <bdi>{oneLine(path.json_path, 120)}</bdi>
      </h2>
      <Chart
        label={`${path.json_path} over time; the table below has its numbers`}
        times={loaded.times}
        endMs={loaded.endMs}
        series={seriesOf(stats)}
        bands={path.value_type === "numeric" ? [{ between: [3, 1], color: "--band" }] : []}
        {...{ zone, format }}
        heightPx={220}
        onHover={setHovered}
      />
      {path.value_type === "categorical" && <LabelShares path={path.json_path} {...{ project, window }} />}
      <div className="wide" tabIndex={0} role="region" aria-label="Buckets">
        <table>
          <thead>
            <tr>
              <th scope="col">from</th>
              {COLUMNS[path.value_type].map(([name]) => (
                <th key={name} scope="col" className="number">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            <BucketRow name="all" stats={stats} values={stats.window} />
            {buckets.map((values, at) => (
              <BucketRow
                key={at}
                name={bucketName(loaded.times[at] ?? 0, loaded.times[at + 1] ?? loaded.endMs, {
                  zone,
                  granularity: loaded.granularity,
                })}
                {...{ stats, values }}
                hovered={at === hovered}
              />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

type Column = readonly [
  name: string,
  value: (values: PathStats["window"]) => number | null | undefined,
  figure: (value: number) => FormattedNumber,
];

const COLUMNS: Readonly<Record<PathStats["path"]["value_type"], readonly Column[]>> = {
  numeric: (["avg", "p10", "p50", "p90", "min", "max"] as const)
    .map((name): Column => [name, (values) => values[name], plainNumber])
    .concat([["values", (values) => values["count"], formatCount]]),
  boolean: [
    ["true", (values) => values["count_true"], formatCount],
    ["false", (values) => values["count_false"], formatCount],
    ["rate", rateOf, formatPercent],
  ],
  categorical: [["values", (values) => values["count"], formatCount]],
};

interface BucketRowProps {
  readonly name: string;
  readonly stats: PathStats;
  readonly values: PathStats["window"];
  readonly hovered?: boolean;
}

function BucketRow({ name, stats, values, hovered = false }: BucketRowProps) {
  return (
    <tr className={hovered ? "hovered" : ""}>
      <th scope="row">{name}</th>
      {COLUMNS[stats.path.value_type].map(([column, read, figure]) => {
        const value = read(values);
        return (
          <td key={column} className="number">
            {value == null ? (
              <Unknown why="no feedback there" />
            ) : (
              <FormattedValue figure={figure(value)} dim={value === 0} />
            )}
          </td>
        );
      })}
    </tr>
  );
}

function seriesOf(stats: PathStats): readonly ChartSeries[] {
  const { path, buckets } = stats;
  const line = (label: string, color: string): ChartSeries => ({
    label,
    color,
    kind: "line",
    values: buckets.map((bucket) => bucket[label] ?? null),
  });
  if (path.value_type === "numeric")
    return [
      line("avg", "--accent"),
      { ...line("p10", "--band"), kind: "hidden" },
      line("p50", "--muted"),
      { ...line("p90", "--band"), kind: "hidden" },
    ];
  const values = buckets.map((bucket) => valueOf(stats, bucket));
  return [
    {
      label: path.json_path,
      color: "--accent",
      kind: path.value_type === "boolean" ? "line" : "bars",
      values,
    },
  ];
}
