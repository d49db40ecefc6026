import type { UsageStats } from "../api/routes.ts";
import { counted, formatCount, formatUsd } from "../format/figure.ts";
import { formatInterval } from "../format/instants.ts";
import { oneLine } from "../format/plain-text.ts";
import { FailedTraces } from "../components/failed-traces.tsx";
import { FormattedValue } from "../components/figure.tsx";
import { printWindow } from "../state/time-range.ts";
import type { HrefTo } from "../state/url-state.ts";
import { tracesOf } from "../state/drill.ts";
import { searchBehind, type LoadedUsage } from "./load-usage.ts";
import { unitOf } from "./measures.ts";
import { UsageChange, UsageValue } from "./usage-columns.tsx";

/** The total of the view, what it leaves out, and the total of what it is compared with. */
export function UsageSummary({ loaded, hrefTo }: { readonly loaded: LoadedUsage; readonly hrefTo: HrefTo }) {
  const { stats, question } = loaded;
  const { total } = stats;
  const { window, before, zone, measure, of } = question;
  const text = searchBehind(question);
  const traces = tracesOf(hrefTo, { text, of });
  const beside = (["cost", "tokens", of] as const).filter((one) => one !== measure);
  return (
    <p className="answer">
      <span className="sum">
        <a href={traces(measure)}>
          <UsageValue total={total} measure={measure} />
        </a>
      </span>
      {unitOf(measure, total) !== "" && <span>{unitOf(measure, total)}</span>}
      {beside.map((one) => (
        <a key={one} href={traces(one)}>
          <UsageValue total={total} measure={one} /> {unitOf(one, total)}
        </a>
      ))}
      {of === "traces" ? (
        <FailedTraces {...{ total, text, hrefTo }} />
      ) : (
        total.errors > 0 && (
          <a className="failed" href={traces("errors")}>
            ✕ {formatCount(total.errors).text} of {counted(total.calls, "call")} failed
          </a>
        )
      )}
      <span className="dim">{formatInterval(window.fromMs, window.toMs ?? Date.parse(stats.end), zone)}</span>
      {loaded.before !== undefined && before?.toMs !== undefined && (
        <a
          className="dim"
          href={hrefTo("usage", { window: printWindow({ fromMs: before.fromMs, toMs: before.toMs }) })}
        >
          Previous period: <UsageValue total={loaded.before.total} measure={measure} />{" "}
          <UsageChange before={loaded.before.total} now={total} measure={measure} />,{" "}
          {formatInterval(before.fromMs, before.toMs, zone)}
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
