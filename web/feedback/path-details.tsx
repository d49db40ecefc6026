import { useMemo, useState, type ReactNode } from "react";
import { plainNumber, formatCount, type FormattedNumber } from "../format/figure.ts";
import { oneLine } from "../format/plain-text.ts";
import { nameOf as bucketName, windowOf } from "../components/chart-buckets.ts";
import { Chart } from "../components/chart.tsx";
import type { ChartSeries } from "../components/chart-props.ts";
import { FormattedValue, Unknown } from "../components/figure.tsx";
import { Table, type Column } from "../components/table.tsx";
import { printWindow } from "../state/time-range.ts";
import type { HrefTo } from "../state/url-state.ts";
import { LabelShares } from "./label-shares.tsx";
import type { FeedbackQuestion, LoadedFeedback, PathStats } from "./load-feedback.ts";
import { nameOf, searchOf, SHOWN, type Values } from "./paths.ts";
import { ValuesBy } from "./values-by.tsx";

interface PathDetailsProps {
  readonly stats: PathStats;
  readonly loaded: LoadedFeedback;
  readonly question: FeedbackQuestion;
  /** The split, as in the address. */
  readonly by: string | undefined;
  readonly hrefTo: HrefTo;
}

/** A path in detail: percentiles, rates with their counts, labels as shares, and every bucket in a table. */
export function PathDetails({ stats, loaded, question, by, hrefTo }: PathDetailsProps) {
  const { path } = stats;
  const { columns, format } = SHOWN[path.value_type];
  const { buckets } = loaded;
  const { zone } = question;
  const [hovered, setHovered] = useState<number | undefined>(undefined);
  const series = useMemo(() => seriesOf(stats), [stats]);
  const hrefOf = (bucket: number): string =>
    hrefTo("feedback", { window: printWindow(windowOf(buckets, bucket)) });
  const rows: readonly Row[] = [
    { name: "all", values: stats.window },
    ...stats.buckets.map((values, at) => ({
      name: <a href={hrefOf(at)}>{bucketName(buckets, at, zone)}</a>,
      values,
    })),
  ];
  const tracesOf = (q: string): string => hrefTo("traces", { q });
  return (
    <section className="path-details" aria-label={path.json_path}>
      <h2>
        <bdi>{oneLine(nameOf(path), 120)}</bdi> <Worst {...{ stats, tracesOf }} />
      </h2>
      <Chart
        label={`${path.json_path} over time; the table below has its numbers`}
        {...{ buckets, series, zone, hovered, hrefOf }}
        isCount={path.value_type === "categorical"}
        format={format}
        heightPx={220}
        onHover={setHovered}
        onZoom={(zoomed) => location.assign(hrefTo("feedback", { window: printWindow(zoomed) }))}
      />
      {series.length > 1 && (
        <ul className="legend">
          {series.map(({ label, color, kind }) => (
            <li key={label}>
              <i className={`swatch ${kind}`} style={{ background: `var(${color})` }} />{" "}
              {LEGEND[label] ?? label}
            </li>
          ))}
        </ul>
      )}
      {path.value_type === "categorical" && <LabelShares {...{ question, path, tracesOf }} />}
      <ValuesBy {...{ question, path, by, hrefTo }} />
      <Table
        label="Buckets"
        columns={[
          { name: "from", cell: ({ name }) => name },
          ...columns.map((name) => columnOf(name, format)),
        ]}
        rows={rows}
        hovered={hovered === undefined ? undefined : hovered + 1}
      />
    </section>
  );
}

const LEGEND: Readonly<Record<string, string>> = {
  avg: "mean",
  p50: "median",
  p10: "lowest tenth below",
  p90: "highest tenth above",
};

interface Row {
  readonly name: ReactNode;
  readonly values: Values;
}

interface WorstProps {
  readonly stats: PathStats;
  readonly tracesOf: (q: string) => string;
}

/** Leads to the traces with the lowest tenth of the values, or with false ones. */
function Worst({ stats: { path, window }, tracesOf }: WorstProps) {
  const [isFalse, p10] = [window["count_false"] ?? 0, window["p10"] ?? null];
  if (path.value_type === "boolean" ? isFalse === 0 : p10 === null) return null;
  const [text, q] =
    p10 === null
      ? [`${formatCount(isFalse).text} false`, searchOf(path, "$eq", false)]
      : [`Lowest 10 %: ≤ ${plainNumber(p10).text}`, searchOf(path, "$lte", p10)];
  return (
    <a className="worst" href={tracesOf(q)}>
      {text}
    </a>
  );
}

const NAMES: Readonly<Record<string, string>> = {
  count: "values",
  count_true: "true",
  count_false: "false",
};

function columnOf(name: string, format: (value: number) => FormattedNumber): Column<Row> {
  const cell = ({ values: { [name]: value = null } }: Row): ReactNode => {
    if (value === null) return <Unknown why="no feedback there" />;
    const figure = name.startsWith("count") ? formatCount(value) : format(value);
    return <FormattedValue figure={figure} dim={value === 0} />;
  };
  return { name: NAMES[name] ?? name, kind: "number", cell };
}

function seriesOf(stats: PathStats): readonly ChartSeries[] {
  const { path, buckets } = stats;
  const read = (name: string) => buckets.map((bucket) => bucket[name] ?? null);
  if (path.value_type === "numeric")
    return [
      { label: "p90", color: "--muted", kind: "ghost", values: read("p90") },
      { label: "p50", color: "--muted", kind: "line", values: read("p50") },
      { label: "p10", color: "--muted", kind: "ghost", values: read("p10") },
      { label: "avg", color: "--accent", kind: "line", values: read("avg") },
    ];
  const { main } = SHOWN[path.value_type];
  return main === "rate"
    ? [{ label: "true", color: "--accent", kind: "line", values: read(main) }]
    : [{ label: "values", color: "--accent", kind: "bars", values: read(main) }];
}
