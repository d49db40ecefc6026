import { useEffect, useMemo, useState, type ReactNode } from "react";
import { postJson } from "../api/client.ts";
import type { TraceList, UsageTotal } from "../api/routes.ts";
import { useQuery, useRefetchOn } from "../api/use-query.ts";
import { counted, formatCount } from "../format/figure.ts";
import { formatInterval } from "../format/instants.ts";
import { Cost, FormattedValue } from "../components/figure.tsx";
import { FailedTraces } from "../components/failed-traces.tsx";
import { LoadState } from "../components/notice.tsx";
import { NothingHere } from "../components/nothing-here.tsx";
import { SearchBox } from "../components/search-box.tsx";
import type { UrlState } from "../state/url-state.ts";
import { readQuery } from "../state/query.ts";
import { isSum } from "../state/search.ts";
import { usageOfTraces } from "../state/select-traces.ts";
import type { TimeRange } from "../state/time-range.ts";
import { useHrefTo, type Go } from "../state/use-address.ts";
import { useWindow } from "../state/use-window.ts";
import { FacetPanel, useFacetsOpen } from "./facet-panel.tsx";
import { lookupIn } from "./search-lookup.ts";
import { TraceTable } from "./trace-table.tsx";
import { placeOf, sortOf, type TracesQuestion } from "./traces-question.ts";
import { TracesTools } from "./traces-tools.tsx";
import { useLive } from "./use-live.ts";
import { useTraces } from "./use-traces.ts";

interface TracesViewProps {
  readonly address: UrlState;
  readonly project: string;
  readonly zone: string;
  readonly go: Go;
  /** The rows and the total cost have arrived. */
  readonly onShown: () => void;
}

export function TracesView({ address, project, zone, go, onShown }: TracesViewProps) {
  const { options } = address;
  const [round, setRound] = useState(0);
  const { window } = useWindow(address, zone, round);
  const text = options["q"] ?? "";
  const query = useMemo(() => readQuery(text, "traces"), [text]);
  const isReadable = query.faults.length === 0;
  const sort = sortOf(options["sort"]);
  const question = { project, window, sort, query };
  const isLive = options["live"] !== "off";
  const { list, loaded, rows, newer } = useRows(question, isReadable, isLive);
  const isShown = rows !== undefined && !list.busy;
  useEffect(() => {
    if (isShown) onShown();
  }, [isShown, onShown]);
  const refresh = (): void => {
    setRound(round + 1);
    list.refetch();
  };
  const facets = useFacetsOpen();
  const hrefTo = useHrefTo(address);
  const failed = useFailed(question, isReadable, loaded?.total);
  const lookup = useMemo(() => lookupIn(question), [JSON.stringify([project, window, text])]);
  const change = (more: Readonly<Record<string, string>>): void => go({ options: { ...options, ...more } });
  return (
    <main className={`traces-view ${list.isOld ? "old" : ""}`} aria-busy={isReadable && list.busy}>
      <h1 className="unseen">Traces</h1>
      <div className="summary">
        {loaded === undefined ? (
          <p className="answer">&nbsp;</p>
        ) : (
          <Summary {...{ window, zone }} total={loaded.total} isOld={list.isOld}>
            {failed !== undefined && <FailedTraces total={failed} {...{ text, hrefTo }} />}
          </Summary>
        )}
        <TracesTools
          {...{ question, zone, isLive, refresh, facets }}
          onLive={(isWanted) => change({ live: isWanted ? "" : "off" })}
        />
      </div>
      <SearchBox text={text} of="traces" query={query} onText={(q) => change({ q })} lookup={lookup} />
      <div className="listed">
        <div className="beside-facets">
          {isReadable && <LoadState load={list} />}
          {newer > 0 && (
            <div className="newer" role="status">
              <button onClick={refresh}>{counted(newer, "new trace")} · Show</button>
            </div>
          )}
          {loaded !== undefined && rows !== undefined && rows.length > 0 && (
            <TraceTable
              key={project}
              {...{ rows, zone, address, go, sort }}
              total={loaded.total.traces}
              whole={loaded.total.total_cost}
              onSort={(sort) => change({ sort })}
              onEnd={list.more}
            />
          )}
          {rows?.length === 0 && list.failure === undefined && !list.isOld && (
            <NothingHere
              {...{ project, options, go }}
              what={text === "" ? "No trace began in this window." : "No trace of this window matches."}
            />
          )}
        </div>
        {facets.isOpen && <FacetPanel {...{ facets, question, round, address, go }} />}
      </div>
    </main>
  );
}

/** The rows as they were listed, each as it is now, and how many traces came since. */
function useRows(question: TracesQuestion, isReadable: boolean, isLive: boolean) {
  const list = useTraces(question, isReadable);
  const newest = useLive(question, list, isReadable && isLive && question.window.toMs === undefined);
  const loaded = isReadable ? list.value : undefined;
  const rows = useMemo(() => {
    const fresh = new Map(newest?.traces.map((row) => [row.trace_id, row]));
    return loaded?.traces.map((row) => fresh.get(row.trace_id) ?? row);
  }, [loaded, newest]);
  const newer = (newest?.total.traces ?? 0) - (loaded?.total.traces ?? 0);
  return { list, loaded, rows, newer };
}

/** Number of failed traces and wasted cost; undefined for a search with limits on sums, which `/usage/stats` does not take. */
function useFailed(
  { project, window, query }: TracesQuestion,
  isReadable: boolean,
  listed: TraceList["total"] | undefined,
): UsageTotal | undefined {
  const isAsked = isReadable && query.search?.conditions.some(isSum) !== true;
  const body = { ...placeOf({ project, window }), ...usageOfTraces(query), of: "traces" as const };
  const key = `failed ${JSON.stringify(body)}`;
  const load = useQuery(isAsked ? key : undefined, (asking) =>
    postJson({ path: "/usage/stats", body: { ...body, include_costs: true } }, asking),
  );
  useRefetchOn(load, key, isAsked ? JSON.stringify(listed) : undefined);
  return load.value?.body.total;
}

interface SummaryProps {
  readonly total: TraceList["total"];
  readonly window: TimeRange;
  readonly zone: string;
  /** It is of the question before. */
  readonly isOld: boolean;
  /** Number of failed traces. */
  readonly children: ReactNode;
}

function Summary({ total, window, zone, isOld, children }: SummaryProps) {
  const { traces, calls, unfinished, total_tokens, total_cost, partial } = total;
  return (
    <p className={isOld ? "answer old" : "answer"}>
      <span className="sum">
        <Cost total={{ total_cost, partial }} />
      </span>
      <span>
        in <FormattedValue figure={formatCount(traces)} /> {traces === 1 ? "trace" : "traces"}
      </span>
      <span>
        <FormattedValue figure={formatCount(total_tokens)} /> tokens
      </span>
      <span>
        <FormattedValue figure={formatCount(calls)} /> {calls === 1 ? "call" : "calls"}
      </span>
      {children}
      {unfinished > 0 && (
        <span className="live" title="Calls that have not ended">
          ● {formatCount(unfinished).text} unfinished
        </span>
      )}
      <span className="dim">
        {formatInterval(window.fromMs, window.toMs ?? Date.now(), zone)}, {zone}
      </span>
    </p>
  );
}
