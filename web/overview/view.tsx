import { useMemo, useState } from "react";
import { useQuery } from "../api/use-query.ts";
import { formatInterval } from "../format/instants.ts";
import { LoadState } from "../components/notice.tsx";
import { NothingHere } from "../components/nothing-here.tsx";
import { Segments } from "../components/segments.tsx";
import { INTERVALS, intervalOf } from "../state/time-range.ts";
import { printAddress } from "../state/url-state.ts";
import { useHrefTo, type ViewProps } from "../state/use-address.ts";
import { useWindow } from "../state/use-window.ts";
import { Attention } from "./attention.tsx";
import { Cards } from "./cards.tsx";
import { Changes } from "./changes.tsx";
import { Dearest } from "./dearest.tsx";
import { loadOverview } from "./load-overview.ts";
import { Spend } from "./spend.tsx";
import "../style/charts.css";
import "../style/overview.css";

/** Overview: spend, changes, and issues to act on. */
export function OverviewView({ address, project, zone, go }: ViewProps) {
  const [round, setRound] = useState(0);
  const { window, before } = useWindow(address, zone, round);
  const interval = intervalOf(address.options["interval"]);
  const question = { project, zone, window, before, interval };
  const load = useQuery(
    JSON.stringify(question),
    (asking) => loadOverview(question, asking),
    `overview ${project}`,
  );
  const overview = load.value;
  const { options } = address;
  // its figures are of everything, whatever was searched for in another view
  const hrefTo = useHrefTo(useMemo(() => ({ ...address, options: { ...options, q: "" } }), [address]));
  const isEmpty = overview !== undefined && overview.stats.total.calls === 0;
  return (
    <main className={`overview ${load.isOld ? "old" : ""}`} aria-busy={load.busy}>
      <div className="summary">
        <h1>Overview</h1>
        <p className="answer dim">
          {formatInterval(window.fromMs, window.toMs ?? Date.now(), zone)}
          {before?.toMs !== undefined &&
            `, compared with ${formatInterval(before.fromMs, before.toMs, zone)}`}
        </p>
        <div className="tools">
          <Segments
            label="Interval"
            all={INTERVALS}
            chosen={interval}
            onChoose={(next) => go({ options: { ...options, interval: next } })}
          />
          <button
            title="Refresh"
            aria-label="Refresh"
            onClick={() => {
              setRound(round + 1);
              load.refetch();
            }}
          >
            ↻
          </button>
        </div>
      </div>
      <LoadState load={load} />
      {isEmpty && <NothingHere {...{ project, options, go }} what="No call began in this window." />}
      {overview !== undefined && !isEmpty && (
        <>
          <Cards {...{ overview, hrefTo }} />
          <Spend {...{ overview, hrefTo }} />
          <div className="columns-two">
            <Changes {...{ overview, hrefTo }} />
            <Attention {...{ overview, hrefTo }} />
            <Dearest
              {...{ overview }}
              allHref={hrefTo("traces", { sort: "cost" })}
              traceHref={(traceId) => printAddress({ ...address, view: "trace", traceId })}
            />
          </div>
        </>
      )}
    </main>
  );
}
