import type { UsageStats, UsageTotal } from "../api/routes.ts";
import { change, counted, formatCount } from "../format/figure.ts";
import { formatInterval } from "../format/instants.ts";
import { oneLine } from "../format/plain-text.ts";
import { Cost, FormattedValue } from "../components/figure.tsx";
import type { TimeRange } from "../state/time-range.ts";
import { MEASURES, type LoadedUsage, type Measure } from "./load-usage.ts";

interface UsageSummaryProps {
  readonly loaded: LoadedUsage;
  readonly window: TimeRange;
  readonly before: TimeRange | undefined;
  readonly zone: string;
  readonly measure: Measure;
}

/** The total of the view, what it leaves out, and the total of what it is compared with. */
export function UsageSummary({ loaded, window, before, zone, measure }: UsageSummaryProps) {
  const { stats } = loaded;
  const { total } = stats;
  return (
    <p className="answer">
      <span className="sum">
        <Value total={total} measure={measure} />
      </span>
      {measure === "errors" && <span>failures</span>}
      {measure !== "cost" && measure !== "errors" && <span>{measure}</span>}
      {measure !== "cost" && (
        <span>
          <Cost total={total} />
        </span>
      )}
      {measure !== "tokens" && (
        <span>
          <FormattedValue figure={formatCount(total.total_tokens)} /> tokens
        </span>
      )}
      {measure !== "calls" && (
        <span>
          <FormattedValue figure={formatCount(total.calls)} /> {total.calls === 1 ? "call" : "calls"}
        </span>
      )}
      {measure !== "errors" && total.errors > 0 && (
        <span className="failed">✕ {formatCount(total.errors).text} failed</span>
      )}
      <span className="dim">
        {formatInterval(window.fromMs, window.toMs ?? Date.parse(stats.end), zone)}, {zone}
      </span>
      {loaded.before !== undefined && before?.toMs !== undefined && (
        <span className="dim" title={`${formatInterval(before.fromMs, before.toMs, zone)}, ${zone}`}>
          Previous period: <Value total={loaded.before.total} measure={measure} />{" "}
          <Change before={loaded.before.total} now={total} measure={measure} />
        </span>
      )}
      <LeftOut unpriced={stats.unpriced ?? []} />
    </p>
  );
}

/** Unpriced usage, which the totals leave out. */
export function LeftOut({ unpriced }: { readonly unpriced: NonNullable<UsageStats["unpriced"]> }) {
  if (unpriced.length === 0) return null;
  const named = unpriced.slice(0, 3).map(({ llm, service_tier, total_tokens, units }) => {
    const tier = service_tier === null ? "" : ` at tier ${oneLine(service_tier, 30)}`;
    const beside = Object.entries(units).filter(([name, count]) => count > 0 && !name.endsWith("_tokens"));
    const used =
      total_tokens > 0 || beside.length === 0
        ? counted(total_tokens, "token")
        : beside.map(([name, count]) => `${formatCount(count).text} ${name.replaceAll("_", " ")}`).join(", ");
    return `${oneLine(llm, 60)}${tier} (${used})`;
  });
  return (
    <span className="unpriced">
      Unpriced: {named.join(", ")}
      {unpriced.length > 3 && ` and ${counted(unpriced.length - 3, "more model", "more models")}`}
    </span>
  );
}

interface ValueProps {
  readonly total: UsageTotal;
  readonly measure: Measure;
}

export function Value({ total, measure }: ValueProps) {
  if (measure === "cost") return <Cost total={total} />;
  const count = total[MEASURES[measure].member] ?? 0;
  return <FormattedValue figure={formatCount(count)} dim={count === 0} />;
}

interface ChangeProps {
  readonly before: UsageTotal | undefined;
  readonly now: UsageTotal;
  readonly measure: Measure;
}

/** By how much it changed; nothing where it is not known how much it was. */
export function Change({ before, now, measure }: ChangeProps) {
  const { member } = MEASURES[measure];
  const [then, value] = [before?.[member] ?? null, now[member] ?? null];
  if (before === undefined) return <>new</>;
  if (then === null || value === null) return null;
  const figure = change(then, value);
  if (figure === undefined) return value > 0 ? <>new</> : null;
  const isPartial = [before, now].some((total) => measure === "cost" && total.partial === true);
  return (
    <span title={isPartial ? `${figure.exact} of what has a price` : figure.exact}>
      {isPartial && "≈ "}
      {figure.text}
    </span>
  );
}
