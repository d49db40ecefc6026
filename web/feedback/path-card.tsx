import { formatCount } from "../format/figure.ts";
import { oneLine } from "../format/plain-text.ts";
import type { Buckets } from "../components/chart-buckets.ts";
import { Spark } from "../components/spark.tsx";
import { FormattedValue, Unknown } from "../components/figure.tsx";
import type { PathStats } from "./load-feedback.ts";
import { nameOf, SHOWN, type Values } from "./paths.ts";

interface PathCardProps {
  readonly stats: PathStats;
  readonly buckets: Buckets;
  readonly chosen: boolean;
  readonly href: string;
}

/** A path, its number over the window, and a small chart. */
export function PathCard({ stats, buckets, chosen, href }: PathCardProps) {
  const { path } = stats;
  const { main, word } = SHOWN[path.value_type];
  return (
    <li>
      <a className="card" href={href} aria-current={chosen ? "true" : undefined}>
        <bdi className="path">{oneLine(nameOf(path), 80)}</bdi>
        <span className="value">
          <WindowValue stats={stats} />
        </span>
        <span className="dim">
          {word}
          {path.value_type !== "categorical" && (
            <>
              {" of "}
              <FormattedValue figure={formatCount(countIn(stats.window))} />
            </>
          )}
        </span>
        <Spark buckets={buckets} values={stats.buckets.map((bucket) => bucket[main] ?? null)} />
      </a>
    </li>
  );
}

/** The number of values behind a mean or a rate. */
function countIn(values: Values): number {
  return values["count"] ?? (values["count_true"] ?? 0) + (values["count_false"] ?? 0);
}

export function WindowValue({ stats }: { readonly stats: Pick<PathStats, "path" | "window"> }) {
  const { main, format } = SHOWN[stats.path.value_type];
  const value = stats.window[main] ?? null;
  if (value === null) return <Unknown why="no feedback of the window has a value there" />;
  return <FormattedValue figure={format(value)} />;
}
