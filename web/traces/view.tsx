import { useMemo, useState } from "preact/hooks";
import { asCurl } from "../api/ask.ts";
import { useLoad } from "../api/use-load.ts";
import { tokens } from "../numbers/figure.ts";
import { span } from "../numbers/instants.ts";
import { oneLine } from "../numbers/plain-text.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { Dollars, Shown } from "../parts/figure.tsx";
import { FilterBar } from "../parts/filter-bar.tsx";
import { LoadState, Notice } from "../parts/notice.tsx";
import { operandOf, readFilter } from "../state/filters.ts";
import type { Address } from "../state/address.ts";
import { readWindow, type TimeWindow } from "../state/time-window.ts";
import type { Go } from "../state/use-address.ts";
import { csvOfTraces } from "./csv-of-traces.ts";
import { DownloadButton } from "../parts/download-button.tsx";
import { ColumnPicker } from "./column-picker.tsx";
import { keepLayout, keptLayout, type Layout } from "./columns.ts";
import { printCostFilter, readCostFilter } from "./cost-filter.ts";
import { loadTraces, MAX_ROWS, SORTS, usageQuestion, type LoadedTraces, type Sort } from "./load-traces.ts";
import { TraceTable } from "./trace-table.tsx";
import { useLiveRows } from "./use-live-rows.ts";

interface TracesViewProps {
  readonly address: Address;
  readonly project: string;
  readonly zone: string;
  readonly go: Go;
}

export function TracesView({ address, project, zone, go }: TracesViewProps) {
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
  const load = useLoad(JSON.stringify(question), (asking) => loadTraces(question, asking));
  const traces = useLiveRows(project, load.value);
  const refresh = (): void => {
    setRound(round + 1);
    load.again();
  };
  const change = (more: Readonly<Record<string, string>>): void => go({ options: { ...options, ...more } });
  return (
    <main class="traces-view" aria-busy={load.busy}>
      <h1 class="unseen">Traces</h1>
      <div class="summary">
        {traces === undefined ? (
          <p class="answer">&nbsp;</p>
        ) : (
          <Summary traces={traces} window={window} zone={zone} />
        )}
        <div class="tools">
          <label>
            sort{" "}
            <select value={sort} onChange={(event) => change({ sort: event.currentTarget.value })}>
              {Object.entries(SORTS).map(([name, label]) => (
                <option key={name} value={name}>
                  {label}
                </option>
              ))}
            </select>
          </label>
          <ColumnPicker layout={layout} onLayout={changeLayout} />
          <button onClick={refresh} title="Ask again, up to now">
            Refresh
          </button>
          {traces !== undefined && (
            <DownloadButton label="CSV" name="traces.csv" text={() => csvOfTraces(traces.rows)} />
          )}
          <CopyButton
            label="copy curl"
            title="The question behind the total"
            text={() => asCurl(usageQuestion(question))}
          />
        </div>
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
      <LoadState load={load} />
      {traces !== undefined && <Said traces={traces} sort={sort} />}
      {traces !== undefined && traces.rows.length > 0 && (
        <TraceTable {...{ traces, project, zone, address, go, layout }} onLayout={changeLayout} />
      )}
      {traces?.rows.length === 0 && load.failure === undefined && (
        <Empty
          filtered={question.operand !== undefined || cost !== undefined}
          widen={() => change({ window: "90d" })}
        />
      )}
    </main>
  );
}

interface SummaryProps {
  readonly traces: LoadedTraces;
  readonly window: TimeWindow;
  readonly zone: string;
}

function Summary({ traces, window, zone }: SummaryProps) {
  const { total, count, truncated, unfinished, unpriced } = traces;
  return (
    <p class="answer">
      <span class="sum">
        <Dollars total={total} />
      </span>
      <span>
        in {truncated && "the oldest "}
        <Shown figure={tokens(count)} /> traces
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

/** What the table leaves out. */
function Said({ traces, sort }: { readonly traces: LoadedTraces; readonly sort: Sort }) {
  const { truncated, count, rows } = traces;
  if (truncated) {
    return (
      <Notice
        kind="warning"
        title={`More than ${tokens(count).text} traces match, and the total is of the oldest of them.`}
      >
        {sort === "newest"
          ? `The newest ${rows.length} are shown.`
          : `The largest ${rows.length} of those are shown.`}{" "}
        Choose a shorter window, or filter.
      </Notice>
    );
  }
  if (count <= MAX_ROWS) return null;
  const left = sort === "newest" ? "older" : "smaller";
  return (
    <Notice
      kind="quiet"
      title={`${rows.length} rows of ${tokens(count).exact} are shown; the ${left} ones are in the total.`}
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
