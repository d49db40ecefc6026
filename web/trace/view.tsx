import { useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import { useQuery } from "../api/use-query.ts";
import { asCurl } from "../api/client.ts";
import { formatTime } from "../format/instants.ts";
import { formatCount } from "../format/figure.ts";
import { oneLine } from "../format/plain-text.ts";
import { CopyButton } from "../components/copy-button.tsx";
import { Duration, FormattedValue, Used } from "../components/figure.tsx";
import { LoadState, Notice } from "../components/notice.tsx";
import type { UrlState } from "../state/url-state.ts";
import type { ViewProps } from "../state/use-address.ts";
import { useMedia } from "../state/use-media.ts";
import { callAt, childrenOf, countOf, idAt, positionOf } from "./tree/call-tree.ts";
import { openedFor } from "./tree/rows.ts";
import { NOT_FOUND } from "./tree/text-column.ts";
import { Details } from "./details.tsx";
import { FindBox } from "./find-box.tsx";
import { loadTrace, type LoadedTrace } from "./load/load-trace.ts";
import { traceQuestions } from "./load/messages.ts";
import { useTraceState, type TraceState } from "./trace-state.ts";
import { Split } from "./split.tsx";
import { TreeTable } from "./tree-table.tsx";
import { useTreeMoves } from "./use-tree-moves.ts";

/** Tree and details fit side by side. */
const BESIDE = "(width >= 1100px)";
const REFRESH_MS = 5000;
/** Larger traces are only refreshed by hand. */
const MAX_REFRESHED_CALLS = 20_000;

interface TraceViewProps extends ViewProps {
  readonly traceId: string;
}

export function TraceView(props: TraceViewProps) {
  const { project, traceId } = props;
  const load = useQuery<LoadedTrace>(`trace\n${project}\n${traceId}`, (asking, show) =>
    loadTrace(project, traceId, { asking, show }),
  );
  const trace = load.value;
  useRefresh(trace, load.refetch);
  return (
    <main className="trace-view" aria-busy={load.busy}>
      <h1 className="unseen">Trace</h1>
      <LoadState load={load} counting="calls read" />
      {trace !== undefined && countOf(trace.tree) === 0 && (
        <Notice kind="quiet" title="There is no such trace in this project.">
          It may be in another project, or deleted, or on its way.{" "}
          <button onClick={load.refetch}>Retry</button>
        </Notice>
      )}
      {trace !== undefined && countOf(trace.tree) > 0 && (
        <Shell {...props} trace={trace} isAdding={load.busy} />
      )}
    </main>
  );
}

/** Refreshes a running trace while the page is visible. */
function useRefresh(trace: LoadedTrace | undefined, again: () => void): void {
  const runs =
    trace !== undefined &&
    (trace.used?.unfinished.includes(1) ?? false) &&
    countOf(trace.tree) <= MAX_REFRESHED_CALLS;
  useEffect(() => {
    if (!runs) return;
    const timer = setInterval(() => document.visibilityState === "visible" && again(), REFRESH_MS);
    return () => clearInterval(timer);
  }, [runs, again]);
}

interface ShellProps extends TraceViewProps {
  readonly trace: LoadedTrace;
  /** The usage of the calls is being loaded. */
  readonly isAdding: boolean;
}

function Shell({ address, project, traceId, zone, go, trace, isAdding }: ShellProps) {
  const [{ options }, { tree }] = [address, trace];
  const change = (more: UrlState["options"]) => go({ options: { ...options, ...more } }, "replace");
  const isBeside = useMedia(BESIDE) && options["panel"] !== "closed";
  const opened = options["call"] ?? (isBeside ? idAt(tree, 0) : undefined);
  const openedPosition = opened === undefined ? NOT_FOUND : positionOf(tree, opened);
  const groupsOpen = options["groups"] === "open";
  const [changed, setChanged] = useState(() =>
    openedFor(tree, openedPosition, { changed: new Set(), groupsOpen }),
  );
  const expanded = { changed, groupsOpen };
  const state = useTraceState(trace, expanded);
  const { treeUsage } = state;
  const find = useRef<HTMLInputElement>(null);
  const moves = useTreeMoves({ options, opened, go, state, expanded, setChanged, find });
  return (
    <>
      <Summary {...{ state, zone, isAdding }} nextFailed={moves.nextFailed}>
        <FindBox
          input={find}
          tree={tree}
          revealNext={moves.revealNext}
          find={options["find"] ?? ""}
          onFind={(text) => change({ find: text })}
        />
        <button
          onClick={() => {
            setChanged(new Set());
            change({ groups: groupsOpen ? "" : "open" });
          }}
        >
          {groupsOpen ? "Group similar" : "Show all"}
        </button>
        {(treeUsage?.all.usd ?? 0) > 0 && (
          <button
            title="Go to the call with the largest own cost (below a row: $)"
            onClick={() => moves.revealCostliest()}
          >
            Dearest call
          </button>
        )}
        <button title="The bars of the time of the chosen call (z)" onClick={moves.zoom}>
          {moves.zoomed === undefined ? "Zoom" : "Whole trace"}
        </button>
        <button onClick={() => go({ options: { ...options, call: idAt(tree, 0), tab: "cost" } })}>
          Receipt
        </button>
        <CopyButton
          label="Copy as cURL"
          title="The questions behind this view"
          text={() => Object.values(traceQuestions(project, traceId)).map(asCurl).join("\n")}
        />
      </Summary>
      {trace.used?.truncated === true && (
        <Notice kind="warning" title="Only the oldest calls of this trace are added up." />
      )}
      <Split isOpen={openedPosition !== NOT_FOUND}>
        <TreeTable {...{ state, isAdding, opened }} {...moves.list} axis={moves.zoomed ?? state.axis} />
        {openedPosition !== NOT_FOUND && (
          <Details
            {...{ project, traceId, zone }}
            close={moves.close}
            treeCall={callAt(tree, openedPosition)}
            treeUsage={treeUsage}
            onModel={(llm) => moves.revealNext((next) => treeUsage?.uses(next, llm) ?? false)}
            tab={options["tab"] ?? ""}
            onTab={(tab) => change({ tab })}
          />
        )}
      </Split>
    </>
  );
}

interface SummaryProps {
  readonly isAdding: boolean;
  readonly nextFailed: () => void;
  readonly state: TraceState;
  readonly zone: string;
  readonly children: ReactNode;
}

function Summary({ state, zone, isAdding, nextFailed, children }: SummaryProps) {
  const { tree, treeUsage, axis, unfinished } = state;
  const total = treeUsage?.all;
  const roots = useMemo(() => [...childrenOf(tree, NOT_FOUND)], [tree]);
  const errors = roots.reduce((sum, root) => sum + tree.errors[root]!, 0);
  const startedAt = new Date(axis.fromMs).toISOString();
  return (
    <div className="summary">
      <p className="answer">
        <span className="sum">
          <Used {...{ total, isAdding }} of="usd" />
        </span>
        <bdi className="what">{callAt(tree, 0).name}</bdi>
        <span>
          <Used {...{ total, isAdding }} of="tokens" /> tokens
        </span>
        <span>
          <FormattedValue figure={formatCount(countOf(tree))} /> {countOf(tree) === 1 ? "call" : "calls"}
        </span>
        <span>
          <Duration ms={unfinished.count > 0 ? null : axis.toMs - axis.fromMs} />
        </span>
        {roots.length > 1 && <span>{roots.length} roots</span>}
        {errors > 0 && (
          <button className="failed" title="Go to the next one (e)" onClick={nextFailed}>
            <span aria-hidden="true">✕ </span>
            <FormattedValue figure={formatCount(errors)} /> failed
          </button>
        )}
        <span className="dim" title={startedAt}>
          {formatTime(startedAt, zone, { now: Date.now() })}
        </span>
        {total !== undefined && total.unpriced.length > 0 && (
          <span className="unpriced">
            Unpriced: {total.unpriced.map((llm) => oneLine(llm, 60)).join(", ")}
          </span>
        )}
      </p>
      <div className="tools">{children}</div>
    </div>
  );
}
