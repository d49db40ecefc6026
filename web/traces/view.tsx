import { useEffect, useMemo, useState } from "preact/hooks";
import { counted, formatCount } from "../format/figure.ts";
import { formatInterval } from "../format/instants.ts";
import { Dollars, listed, FormattedValue } from "../components/figure.tsx";
import { LoadState } from "../components/notice.tsx";
import { NothingHere } from "../components/nothing-here.tsx";
import { SearchBox } from "../components/search-box.tsx";
import type { UrlState } from "../state/url-state.ts";
import { readQuery } from "../state/query.ts";
import type { TimeRange } from "../state/time-range.ts";
import type { Go } from "../state/use-address.ts";
import { useWindow } from "../state/use-window.ts";
import { keepLayout, keptLayout, type Layout } from "./columns.ts";
import { TraceTable } from "./trace-table.tsx";
import { sortOf } from "./traces-question.ts";
import { TracesTools } from "./traces-tools.tsx";
import { useLive } from "./use-live.ts";
import { useTraces, type Traces, type TracesTotal } from "./use-traces.ts";

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
  const [layout, setLayout] = useState(keptLayout);
  const changeLayout = (next: Layout): void => {
    keepLayout(next);
    setLayout(next);
  };
  const { operand, search } = query;
  const question = { project, window, sort, query: { operand, search } };
  const traces = useTraces(question, isReadable);
  const { list, totals } = traces;
  const isLive = options["live"] !== "off";
  const { rows, newer } = useLive(question, isReadable ? traces.rows : undefined, isLive);
  const total = isReadable ? traces.total : undefined;
  const isBusy = list.busy || totals.busy;
  const isShown = rows !== undefined && !isBusy;
  useEffect(() => {
    if (isShown) onShown();
  }, [isShown, onShown]);
  const refresh = (): void => {
    setRound(round + 1);
    traces.again();
  };
  const change = (more: Readonly<Record<string, string>>): void => go({ options: { ...options, ...more } });
  return (
    <main class={`traces-view ${list.isOld ? "old" : ""}`} aria-busy={isReadable && isBusy}>
      <h1 class="unseen">Traces</h1>
      <div class="summary">
        {total === undefined ? (
          <p class="answer dim">{isReadable && isBusy ? "Adding up what they cost …" : <>&nbsp;</>}</p>
        ) : (
          <Summary {...{ total, window, zone }} isOld={totals.isOld && list.isOld} />
        )}
        <TracesTools
          {...{ question, layout, isLive, refresh }}
          onLayout={changeLayout}
          onLive={(isWanted) => change({ live: isWanted ? "" : "off" })}
        />
      </div>
      <SearchBox text={text} of="traces" query={query} onText={(q) => change({ q })} />
      {isReadable && <States {...{ list, totals, rows }} />}
      {newer > 0 && (
        <div class="newer" role="status">
          <button onClick={refresh}>{counted(newer, "new trace")} · Show</button>
        </div>
      )}
      {rows !== undefined && rows.length > 0 && (
        <TraceTable
          key={project}
          {...{ rows, project, zone, address, go, layout, sort }}
          asked={list.answered ?? ""}
          count={total?.traces}
          whole={total?.total.total_cost ?? null}
          onLayout={changeLayout}
          onSort={(sort) => change({ sort })}
          onEnd={traces.more}
        />
      )}
      {rows?.length === 0 && list.failure === undefined && !list.isOld && (
        <NothingHere
          {...{ project, options, go }}
          what={text === "" ? "No trace began in this window." : "No trace of this window matches."}
        />
      )}
    </main>
  );
}

type StatesProps = Pick<Traces, "list" | "totals" | "rows">;

/** The progress or failure of the rows, or else of what all of them cost. */
function States({ list, totals, rows }: StatesProps) {
  if (list.failure !== undefined || rows === undefined || totals.failure === undefined)
    return <LoadState load={list} />;
  return (
    <LoadState
      load={{ ...totals, value: totals.value ?? rows, cameMs: totals.cameMs || list.cameMs }}
      shown="What all traces cost is not known."
    />
  );
}

interface SummaryProps {
  readonly total: TracesTotal;
  readonly window: TimeRange;
  readonly zone: string;
  /** It is of the question before. */
  readonly isOld: boolean;
}

function Summary({ total: all, window, zone, isOld }: SummaryProps) {
  const { total, traces, failed_traces, unfinished_traces } = all;
  const unpriced = [...new Set((all.unpriced ?? []).map(({ llm }) => llm))];
  return (
    <p class={isOld ? "answer old" : "answer"}>
      <span class="sum">
        <Dollars total={{ usd: total.total_cost ?? null, unpriced }} />
      </span>
      <span>
        in <FormattedValue figure={formatCount(traces)} /> {traces === 1 ? "trace" : "traces"}
      </span>
      <span>
        <FormattedValue figure={formatCount(total.total_tokens)} /> tokens
      </span>
      <span>
        <FormattedValue figure={formatCount(total.calls)} /> {total.calls === 1 ? "call" : "calls"}
      </span>
      {failed_traces > 0 && (
        <span class="failed" title="Traces in which a call failed">
          ✕ {formatCount(failed_traces).text} failed
        </span>
      )}
      {unfinished_traces > 0 && <span class="live">● {formatCount(unfinished_traces).text} running</span>}
      <span class="dim">
        {formatInterval(window.fromMs, window.toMs ?? Date.now(), zone)}, {zone}
      </span>
      {unpriced.length > 0 && <span class="unpriced">Unpriced: {listed(unpriced)}</span>}
    </p>
  );
}
