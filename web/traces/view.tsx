import { useEffect, useMemo, useState } from "preact/hooks";
import { tokens } from "../numbers/figure.ts";
import { span } from "../numbers/instants.ts";
import { oneLine } from "../numbers/plain-text.ts";
import { Dollars, Shown } from "../parts/figure.tsx";
import { FilterBar } from "../parts/filter-bar.tsx";
import { LoadState, Notice } from "../parts/notice.tsx";
import { operandOf, readFilter } from "../state/filters.ts";
import type { Address } from "../state/address.ts";
import { readWindow, type TimeWindow } from "../state/time-window.ts";
import type { Go } from "../state/use-address.ts";
import { keepLayout, keptLayout, type Layout } from "./columns.ts";
import { printCostFilter, readCostFilter } from "./cost-filter.ts";
import { MAX_ROWS } from "./load-rows.ts";
import type { WindowTotals } from "./load-totals.ts";
import { TraceTable } from "./trace-table.tsx";
import { SORTS, type Sort } from "./traces-question.ts";
import { TracesTools } from "./traces-tools.tsx";
import { useTraces } from "./use-traces.ts";

interface TracesViewProps {
  readonly address: Address;
  readonly project: string;
  readonly zone: string;
  readonly go: Go;
  /** The rows and the total cost have arrived. */
  readonly onShown: () => void;
}

export function TracesView({ address, project, zone, go, onShown }: TracesViewProps) {
  const { options } = address;
  const [round, setRound] = useState(0);
  const window = useMemo(
    () => readWindow(options["window"], Date.now()),
    [options["window"], project, round],
  );
  const filter = useMemo(() => readFilter(options["q"]), [options["q"]]);
  const sort: Sort = Object.hasOwn(SORTS, options["sort"] ?? "") ? (options["sort"] as Sort) : "newest";
  const cost = readCostFilter(options["cost"]);
  const [layout, setLayout] = useState(keptLayout);
  const changeLayout = (next: Layout): void => {
    keepLayout(next);
    setLayout(next);
  };
  const question = { project, window, sort, cost, operand: operandOf(filter) };
  const { rows, totals, busy, asked, asking, again } = useTraces(question);
  const isShown = rows !== undefined && !busy;
  useEffect(() => {
    if (isShown) onShown();
  }, [isShown, onShown]);
  const refresh = (): void => {
    setRound(round + 1);
    again();
  };
  const change = (more: Readonly<Record<string, string>>): void => go({ options: { ...options, ...more } });
  const isAddingUp = rows !== undefined && asking.failure === undefined && !asking.stopped;
  return (
    <main class="traces-view" aria-busy={busy}>
      <h1 class="unseen">Traces</h1>
      <div class="summary">
        {totals === undefined ? (
          <p class="answer dim">{isAddingUp ? "Adding up the cost of all traces …" : <>&nbsp;</>}</p>
        ) : (
          <Summary totals={totals} window={window} zone={zone} />
        )}
        <TracesTools {...{ question, rows, layout, refresh, change }} onLayout={changeLayout} />
      </div>
      <FilterBar
        filter={filter}
        onFilter={(q) => change({ q })}
        cost={{
          chip: cost && printCostFilter(cost),
          read: (text) => readCostFilter(text) !== undefined,
          onChange: (cost) => change({ cost }),
        }}
      />
      <LoadState load={asking} />
      {totals !== undefined && rows !== undefined && (
        <LeftOut totals={totals} shown={rows.length} sort={sort} />
      )}
      {rows !== undefined && rows.length > 0 && (
        <TraceTable
          {...{ rows, asked, project, zone, address, go, layout }}
          whole={totals?.total.usd ?? null}
          onLayout={changeLayout}
        />
      )}
      {rows?.length === 0 && asking.failure === undefined && (
        <Empty
          filtered={question.operand !== undefined || cost !== undefined}
          widen={() => change({ window: "90d" })}
        />
      )}
    </main>
  );
}

interface SummaryProps {
  readonly totals: WindowTotals;
  readonly window: TimeWindow;
  readonly zone: string;
}

function Summary({ totals, window, zone }: SummaryProps) {
  const { byRoot, total, truncated, unfinished, unpriced } = totals;
  return (
    <p class="answer">
      <span class="sum">
        <Dollars total={total} />
      </span>
      <span>
        in {truncated && "the oldest "}
        <Shown figure={tokens(byRoot.size)} /> {byRoot.size === 1 ? "trace" : "traces"}
      </span>
      <span>
        <Shown figure={tokens(total.tokens)} /> tokens
      </span>
      {unfinished !== undefined && unfinished > 0 && (
        <span class="live">● {tokens(unfinished).text} calls unfinished</span>
      )}
      <span class="dim">
        {span(window.fromMs, window.toMs ?? Date.now(), zone)}, {zone}
      </span>
      {unpriced.length > 0 && (
        <span class="unpriced">
          without a price:{" "}
          {unpriced
            .slice(0, 3)
            .map(([llm, count]) => `${oneLine(llm, 60)} (${tokens(count).text} tokens)`)
            .join(", ")}
          {unpriced.length > 3 && ` and ${unpriced.length - 3} more models`}
        </span>
      )}
    </p>
  );
}

interface LeftOutProps {
  readonly totals: WindowTotals;
  /** How many rows there are. */
  readonly shown: number;
  readonly sort: Sort;
}

/** A notice on what the table leaves out. */
function LeftOut({ totals, shown, sort }: LeftOutProps) {
  const { truncated, byRoot } = totals;
  const count = byRoot.size;
  if (truncated) {
    return (
      <Notice
        kind="warning"
        title={`More than ${tokens(count).text} traces match, and the total is of the oldest of them.`}
      >
        {sort === "newest" ? `The newest ${shown} are shown.` : `The largest ${shown} of those are shown.`}{" "}
        Choose a shorter window, or filter.
      </Notice>
    );
  }
  if (count <= MAX_ROWS) return null;
  const left = sort === "newest" ? "older" : "smaller";
  return (
    <Notice
      kind="quiet"
      title={`${shown} rows of ${tokens(count).exact} are shown; the ${left} ones are in the total.`}
    />
  );
}

function Empty({ filtered, widen }: { readonly filtered: boolean; readonly widen: () => void }) {
  return (
    <Notice
      kind="quiet"
      title={filtered ? "No trace of this window matches." : "No trace began in this window."}
    >
      <button onClick={widen}>Look at 90 days</button>
    </Notice>
  );
}
