import { useCallback, useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import { useQuery } from "../api/use-query.ts";
import { asCurl } from "../api/client.ts";
import { formatTime } from "../format/instants.ts";
import { formatDuration, formatCount } from "../format/figure.ts";
import { oneLine } from "../format/plain-text.ts";
import { CopyButton } from "../components/copy-button.tsx";
import { Dollars, Live, FormattedValue } from "../components/figure.tsx";
import { LoadState, Notice } from "../components/notice.tsx";
import { UsageOrPlaceholder } from "../components/used-or.tsx";
import type { UrlState } from "../state/url-state.ts";
import type { Go } from "../state/use-address.ts";
import { useMedia } from "../state/use-media.ts";
import { callAt, childrenOf, countOf, hasFailed, idAt, positionOf } from "./tree/call-tree.ts";
import type { ExpandedState } from "./tree/expanded-state.ts";
import type { TreeUsage } from "./tree/tree-usage.ts";
import { keyAt } from "./tree/rows.ts";
import { NOT_FOUND } from "./tree/text-index.ts";
import { costliestDescendant } from "./tree/walk.ts";
import { Details, type UsedByCall } from "./details.tsx";
import { FindBox } from "./find-box.tsx";
import { loadTrace, type LoadedTrace } from "./load/load-trace.ts";
import { traceQuestions } from "./load/trace-questions.ts";
import { printFolding, readFolding, useTraceState, type TraceState } from "./trace-state.ts";
import { Split } from "./split.tsx";
import { TreeTable } from "./tree-table.tsx";

import { useTreeKeys } from "./use-tree-keys.ts";
import { useTreeMoves, type ChangeFolding } from "./use-tree-moves.ts";

/** Tree and details fit side by side. */
const BESIDE = "(width >= 1100px)";
const REFRESH_MS = 5000;
/** Larger traces are only refreshed by hand. */
const MAX_REFRESHED_CALLS = 20_000;

interface TraceViewProps {
  readonly address: UrlState;
  readonly project: string;
  readonly traceId: string;
  readonly zone: string;
  readonly go: Go;
}

export function TraceView({ address, project, traceId, zone, go }: TraceViewProps) {
  const load = useQuery<LoadedTrace>(`trace\n${project}\n${traceId}`, (asking, show) =>
    loadTrace(project, traceId, { asking, show }),
  );
  const [folding, setFolding] = useState(() => readFolding(address.options));
  const state = useTraceState(load.value, folding);
  useRefresh(load.value, load.refetch);
  const changeFolding = useCallback(
    (next: ExpandedState, more: UrlState["options"] = {}) => {
      setFolding(next);
      go({ options: { ...address.options, ...printFolding(next), ...more } }, "replace");
    },
    [address, go],
  );
  return (
    <main className="trace-view" aria-busy={load.busy}>
      <h1 className="unseen">Trace</h1>
      <LoadState load={load} counting="calls read" />
      {load.value !== undefined && countOf(load.value.tree) === 0 && (
        <Notice kind="quiet" title="There is no such trace in this project.">
          It may be in another project, or deleted, or on its way.{" "}
          <button onClick={load.refetch}>Retry</button>
        </Notice>
      )}
      {load.value !== undefined && state !== undefined && countOf(state.tree) > 0 && (
        <Shell
          {...{ address, project, traceId, zone, go, state, folding, changeFolding }}
          trace={load.value}
          isAdding={load.busy}
        />
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
  readonly state: TraceState;
  /** The usage of the calls is being loaded. */
  readonly isAdding: boolean;
  readonly folding: ExpandedState;
  readonly changeFolding: ChangeFolding;
}

function Shell(props: ShellProps) {
  const { address, project, traceId, zone, go, trace, state, isAdding, folding, changeFolding } = props;
  const { options } = address;
  const isBeside = useMedia(BESIDE) && options["panel"] !== "closed";
  const opened = options["call"] ?? (isBeside ? idAt(trace.tree, 0) : undefined);
  const find = useRef<HTMLInputElement>(null);
  const { tree, rows, treeUsage } = state;
  const moves = useTreeMoves({ options, opened, go, state, folding, changeFolding });
  const { active, position, choose, close, fold, reveal, revealNext } = moves;
  const nextFailed = (): void => revealNext((next) => hasFailed(tree, next));
  const onKey = useTreeKeys({ state, active, choose, fold, reveal, nextFailed, close, find });
  const openedPosition = opened === undefined ? NOT_FOUND : positionOf(tree, opened);
  return (
    <>
      <Summary {...{ state, zone, isAdding, nextFailed }}>
        <FindBox
          input={find}
          tree={tree}
          from={position}
          reveal={reveal}
          find={options["find"] ?? ""}
          onFind={(text) => go({ options: { ...options, find: text } }, "replace")}
        />
        <button onClick={() => changeFolding({ changed: new Set(), groupsOpen: !folding.groupsOpen })}>
          {folding.groupsOpen ? "Group similar" : "Show all"}
        </button>
        {treeUsage !== undefined && (
          <button
            title="Go down to the call that accounts for most of the cost ($)"
            onClick={() => reveal(costliestDescendant(tree, 0, treeUsage))}
          >
            Dearest call
          </button>
        )}
        <button onClick={() => go({ options: { ...options, call: idAt(tree, 0), tab: "cost" } })}>
          Receipt
        </button>
        <CopyButton
          label="Copy curl"
          title="The questions behind this view"
          text={() => Object.values(traceQuestions(project, traceId)).map(asCurl).join("\n")}
        />
      </Summary>
      {trace.used?.truncated === true && (
        <Notice kind="warning" title="Only the oldest calls of this trace are added up." />
      )}
      <Split isOpen={openedPosition !== NOT_FOUND}>
        <TreeTable
          state={state}
          isAdding={isAdding}
          active={active}
          opened={opened}
          chosen={`${moves.turn} ${opened}`}
          onActive={(index) => choose(keyAt(tree, rows, index))}
          onOpen={moves.open}
          onFold={fold}
          onKey={onKey}
        />
        {openedPosition !== NOT_FOUND && (
          <Details
            {...{ project, traceId, zone, close }}
            treeCall={callAt(tree, openedPosition)}
            used={treeUsage && usedBy(openedPosition, treeUsage)}
            onModel={(llm) => revealNext((next) => treeUsage?.uses(next, llm) ?? false)}
            tab={options["tab"] ?? ""}
            onTab={(tab) => go({ options: { ...options, tab } }, "replace")}
          />
        )}
      </Split>
    </>
  );
}

function usedBy(position: number, treeUsage: TreeUsage): UsedByCall {
  return { total: treeUsage.usage(position), own: treeUsage.own(position) };
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
          <UsageOrPlaceholder total={total} isAdding={isAdding} show={(total) => <Dollars total={total} />} />
        </span>
        <bdi className="what">{callAt(tree, 0).name}</bdi>
        <span>
          <UsageOrPlaceholder
            total={total}
            isAdding={isAdding}
            show={(total) => <FormattedValue figure={formatCount(total.tokens)} />}
          />{" "}
          tokens
        </span>
        <span>
          <FormattedValue figure={formatCount(countOf(tree))} /> {countOf(tree) === 1 ? "call" : "calls"}
        </span>
        <span>
          {unfinished.count > 0 ? (
            <Live />
          ) : (
            <FormattedValue figure={formatDuration(axis.toMs - axis.fromMs)} />
          )}
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
