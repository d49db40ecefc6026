import { useMemo, useState } from "react";
import { useQuery } from "../api/use-query.ts";
import { formatInterval } from "../format/instants.ts";
import { LoadState } from "../components/notice.tsx";
import { NothingHere } from "../components/nothing-here.tsx";
import type { UrlState } from "../state/url-state.ts";
import { useHrefTo, type Go } from "../state/use-address.ts";
import { useWindow } from "../state/use-window.ts";
import { Attention } from "./attention.tsx";
import { Cards } from "./cards.tsx";
import { Increases } from "./increases.tsx";
import { loadOverview } from "./load-overview.ts";
import { Spend } from "./spend.tsx";
import "../style/charts.css";
import "../style/overview.css";

interface OverviewViewProps {
  readonly address: UrlState;
  readonly project: string;
  readonly zone: string;
  readonly go: Go;
}

/** Overview: spend, changes, and issues to act on. */
export function OverviewView({ address, project, zone, go }: OverviewViewProps) {
  const [round, setRound] = useState(0);
  const { window, before } = useWindow(address, zone, round);
  const question = { project, zone, window, before };
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
          {formatInterval(window.fromMs, window.toMs ?? Date.now(), zone)}, {zone}
        </p>
        <div className="tools">
          <button
            title="Refresh"
            onClick={() => {
              setRound(round + 1);
              load.refetch();
            }}
          >
            Refresh
          </button>
        </div>
      </div>
      <LoadState load={load} />
      {isEmpty && <NothingHere {...{ project, options, go }} what="No call began in this window." />}
      {overview !== undefined && !isEmpty && (
        <>
          <Cards {...{ overview, zone, hrefTo }} />
          <Spend {...{ overview, zone, hrefTo }} />
          <div className="columns-two">
            <Increases {...{ overview, hrefTo }} hasBefore={before !== undefined} />
            <Attention {...{ overview, hrefTo }} />
          </div>
        </>
      )}
    </main>
  );
}
