import { plainNumber, formatPercent, formatCount } from "../format/figure.ts";
import { oneLine } from "../format/plain-text.ts";
import type { Buckets } from "../components/chart-buckets.ts";
import { Spark } from "../components/spark.tsx";
import { FormattedValue, Unknown } from "../components/figure.tsx";
import type { PathStats } from "./load-feedback.ts";
import { nameOf } from "./paths.ts";

interface PathCardProps {
  readonly stats: PathStats;
  readonly buckets: Buckets;
  readonly chosen: boolean;
  readonly href: string;
}

/** A path, its number over the window, and a small chart. */
export function PathCard({ stats, buckets, chosen, href }: PathCardProps) {
  const { path } = stats;
  return (
    <li>
      <a className="card" href={href} aria-current={chosen ? "true" : undefined}>
        <bdi className="path">{oneLine(nameOf(path), 80)}</bdi>
        <span className="value">
          <WindowValue stats={stats} />
        </span>
        <span className="dim">
          {WORDS[path.value_type]}
          {path.value_type !== "categorical" && (
            <>
              {" of "}
              <FormattedValue figure={formatCount(countIn(stats.window))} />
            </>
          )}
        </span>
        <Spark buckets={buckets} values={stats.buckets.map((bucket) => valueOf(stats, bucket))} />
      </a>
    </li>
  );
}

export const WORDS = { numeric: "mean", boolean: "true", categorical: "labels" } as const;

/** The number of values behind a mean or a rate. */
function countIn(values: PathStats["window"]): number {
  return values["count"] ?? (values["count_true"] ?? 0) + (values["count_false"] ?? 0);
}

/** The one number of a path: a mean, a rate, how many. */
export function valueOf({ path }: Pick<PathStats, "path">, values: PathStats["window"]): number | null {
  if (path.value_type === "numeric") return values["avg"] ?? null;
  if (path.value_type === "categorical") return values["count"] ?? null;
  return rateOf(values);
}

/** The share of true. */
export function rateOf(values: PathStats["window"]): number | null {
  const [yes, no] = [values["count_true"] ?? 0, values["count_false"] ?? 0];
  return yes + no === 0 ? null : yes / (yes + no);
}

export function WindowValue({ stats }: { readonly stats: Pick<PathStats, "path" | "window"> }) {
  const value = valueOf(stats, stats.window);
  if (value === null) return <Unknown why="no feedback of the window has a value there" />;
  const figure = { numeric: plainNumber, boolean: formatPercent, categorical: formatCount }[
    stats.path.value_type
  ];
  return <FormattedValue figure={figure(value)} />;
}
