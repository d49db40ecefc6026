import type { UsageStats, UsageTotal } from "../api/routes.ts";
import { counted, formatCount, formatUsd } from "../format/figure.ts";
import { formatInterval } from "../format/instants.ts";
import { oneLine } from "../format/plain-text.ts";
import { Change } from "../components/change.tsx";
import { Cost, FormattedValue } from "../components/figure.tsx";
import type { TimeRange } from "../state/time-range.ts";
import { printWindow } from "../state/time-range.ts";
import type { HrefTo } from "../state/url-state.ts";
import { tracesOf } from "../state/drill.ts";
import { MEASURES, type LoadedUsage, type Measure } from "./load-usage.ts";

interface UsageSummaryProps {
  readonly loaded: LoadedUsage;
  readonly window: TimeRange;
  readonly before: TimeRange | undefined;
  readonly zone: string;
  readonly measure: Measure;
  /** The search. */
  readonly text: string;
  readonly hrefTo: HrefTo;
}

const UNITS = { cost: "", tokens: "token", calls: "call", errors: "failure" } as const;

/** The total of the view, what it leaves out, and the total of what it is compared with. */
export function UsageSummary({ loaded, window, before, zone, measure, text, hrefTo }: UsageSummaryProps) {
  const { stats } = loaded;
  const { total } = stats;
  const traces = tracesOf(hrefTo, text);
  const figure = (one: Measure) => (
    <a href={traces[one]}>
      <Value total={total} measure={one} /> {unitOf(one, total)}
    </a>
  );
  return (
    <p className="answer">
      <span className="sum">
        <a href={traces[measure]}>
          <Value total={total} measure={measure} />
        </a>
      </span>
      {measure !== "cost" && <span>{unitOf(measure, total)}</span>}
      {(["cost", "tokens", "calls"] as const).map(
        (one) => one !== measure && <span key={one}>{figure(one)}</span>,
      )}
      {measure !== "errors" && total.errors > 0 && (
        <a className="failed" href={traces.errors}>
          ✕ {formatCount(total.errors).text} failed
        </a>
      )}
      <span className="dim">
        {formatInterval(window.fromMs, window.toMs ?? Date.parse(stats.end), zone)}, {zone}
      </span>
      {loaded.before !== undefined && before?.toMs !== undefined && (
        <a
          className="dim"
          href={hrefTo("usage", { window: printWindow({ fromMs: before.fromMs, toMs: before.toMs }) })}
          title={`${formatInterval(before.fromMs, before.toMs, zone)}, ${zone}`}
        >
          Previous period: <Value total={loaded.before.total} measure={measure} />{" "}
          <UsageChange before={loaded.before.total} now={total} measure={measure} />
        </a>
      )}
      {total.stated_cost != null && (
        <span className="dim">
          Providers state <FormattedValue figure={formatUsd(total.stated_cost)} /> for{" "}
          {counted(total.calls_stated ?? 0, "call")}
        </span>
      )}
      <LeftOut {...{ stats, hrefTo }} />
    </p>
  );
}

function unitOf(measure: Measure, total: UsageTotal): string {
  const unit = UNITS[measure];
  return unit === "" || total[MEASURES[measure].member] === 1 ? unit : `${unit}s`;
}

const MAX_NAMED = 3;

/** Unpriced usage, which the totals leave out; each leads to where its price is set. */
function LeftOut({ stats, hrefTo }: { readonly stats: UsageStats; readonly hrefTo: HrefTo }) {
  const unpriced = stats.unpriced ?? [];
  if (unpriced.length === 0) return null;
  return (
    <span className="unpriced">
      Unpriced:{" "}
      {unpriced.slice(0, MAX_NAMED).map(({ llm, service_tier, total_tokens, units }, at) => {
        // other units, such as searches, where it used no tokens
        const beside = Object.entries(units)
          .filter(([name, count]) => count > 0 && !name.endsWith("_tokens"))
          .map(([name, count]) => `${formatCount(count).text} ${name.replaceAll("_", " ")}`);
        const used =
          total_tokens > 0 || beside.length === 0 ? counted(total_tokens, "token") : beside.join(", ");
        return (
          <span key={`${llm}\n${service_tier}`}>
            {at > 0 && ", "}
            <a href={hrefTo("settings", { model: llm, tier: service_tier ?? "" })} title="Set the price">
              <bdi>{oneLine(llm, 60)}</bdi>
              {service_tier !== null && ` at tier ${oneLine(service_tier, 30)}`} ({used})
            </a>
          </span>
        );
      })}
      {unpriced.length > MAX_NAMED && (
        <>
          {" and "}
          <a href={hrefTo("settings")}>{counted(unpriced.length - MAX_NAMED, "more model", "more models")}</a>
        </>
      )}
    </span>
  );
}

function Value({ total, measure }: { readonly total: UsageTotal; readonly measure: Measure }) {
  if (measure === "cost") return <Cost total={total} />;
  const count = total[MEASURES[measure].member] ?? 0;
  return <FormattedValue figure={formatCount(count)} dim={count === 0} />;
}

interface UsageChangeProps {
  readonly before: UsageTotal | undefined;
  readonly now: UsageTotal;
  readonly measure: Measure;
}

export function UsageChange({ before, now, measure }: UsageChangeProps) {
  const { member } = MEASURES[measure];
  const isPartial = measure === "cost" && (before?.partial === true || now.partial === true);
  return (
    <Change before={before && (before[member] ?? null)} now={now[member] ?? null} isPartial={isPartial} />
  );
}
