import { useMemo, useState, type ReactNode } from "react";
import { useQuery } from "../api/use-query.ts";
import { plainNumber, formatPercent, formatCount, type FormattedNumber } from "../format/figure.ts";
import { oneLine } from "../format/plain-text.ts";
import { nameOf, windowOf } from "../components/chart-buckets.ts";
import { Chart } from "../components/chart.tsx";
import type { ChartSeries } from "../components/chart-props.ts";
import { FormattedValue, Unknown } from "../components/figure.tsx";
import { printWindow, type TimeRange } from "../state/time-range.ts";
import type { UrlState, View } from "../state/url-state.ts";
import { LabelShares } from "./label-shares.tsx";
import type { LoadedFeedback, PathStats } from "./load-feedback.ts";
import { loadWorst, searchOfCalls, type ValuesQuestion } from "./load-values.ts";
import { countIn, rateOf, valueOf } from "./path-card.tsx";

interface PathDetailsProps {
  readonly stats: PathStats;
  readonly loaded: LoadedFeedback;
  readonly project: string;
  readonly zone: string;
  readonly window: TimeRange;
  readonly hrefTo: (view: View, more: UrlState["options"]) => string;
}

const percent = (value: number): string => formatPercent(value).text;
const plain = (value: number): string => plainNumber(value).text;
/** Calls are rated later than they begin. */
const EARLIER_MS = 30 * 86_400_000;

/** A path in detail: percentiles as bands, rates with their counts, labels as shares, and every bucket in a table. */
export function PathDetails({ stats, loaded, project, zone, window, hrefTo }: PathDetailsProps) {
  const { path } = stats;
  const { buckets } = loaded;
  const [hovered, setHovered] = useState<number | undefined>(undefined);
  const series = useMemo(() => seriesOf(stats), [stats]);
  const hrefOf = (bucket: number): string =>
    hrefTo("feedback", { window: printWindow(windowOf(buckets, bucket)) });
  const tracesOf = (q: string): string => {
    const during = { fromMs: window.fromMs - EARLIER_MS, toMs: window.toMs ?? buckets.toMs };
    return hrefTo("traces", { q, window: printWindow(during) });
  };
  const question = { project, window, path };
  return (
    <section className="path-details" aria-label={path.json_path}>
      <h2>
        <bdi>{oneLine(path.json_path, 120)}</bdi>{" "}
        {path.value_type !== "categorical" && <Worst {...{ question, stats, tracesOf }} />}
      </h2>
      <Chart
        label={`${path.json_path} over time; the table below has its numbers`}
        {...{ buckets, series, zone, hovered, hrefOf }}
        isCount={path.value_type === "categorical"}
        format={path.value_type === "boolean" ? percent : plain}
        heightPx={220}
        onHover={setHovered}
        onZoom={(zoomed) => location.assign(hrefTo("feedback", { window: printWindow(zoomed) }))}
      />
      {path.value_type === "categorical" && <LabelShares {...{ question, tracesOf }} />}
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
            {stats.buckets.map((values, at) => (
              <BucketRow
                key={at}
                name={<a href={hrefOf(at)}>{nameOf(buckets, at, zone)}</a>}
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

interface WorstProps {
  readonly question: ValuesQuestion;
  readonly stats: PathStats;
  readonly tracesOf: (q: string) => string;
}

/** Leads to the traces with the lowest values, or with the newest false ones. */
function Worst({ question, stats, tracesOf }: WorstProps) {
  const count = countIn(stats.window);
  const load = useQuery(JSON.stringify(["worst", question]), (asking) => loadWorst(question, count, asking));
  const found = load.value ?? [];
  if (found.length === 0) return null;
  const isBoolean = question.path.value_type === "boolean";
  return (
    <a className="worst" href={tracesOf(searchOfCalls(found))}>
      {isBoolean ? `Newest ${found.length} false` : `Lowest ${found.length}`}
    </a>
  );
}

interface BucketRowProps {
  readonly name: ReactNode;
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
  const read = (name: string) => buckets.map((bucket) => bucket[name] ?? null);
  if (path.value_type === "numeric")
    return [
      { label: "p10 – p90", color: "--band", kind: "band", from: read("p10"), values: read("p90") },
      { label: "p50", color: "--muted", kind: "line", values: read("p50") },
      { label: "avg", color: "--accent", kind: "line", values: read("avg") },
    ];
  return [
    {
      label: path.value_type === "boolean" ? "true" : "values",
      color: "--accent",
      kind: path.value_type === "boolean" ? "line" : "bars",
      values: buckets.map((bucket) => valueOf(stats, bucket)),
    },
  ];
}
