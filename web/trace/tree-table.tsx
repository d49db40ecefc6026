import { useMemo } from "react";
import { formatDuration } from "../format/figure.ts";
import { oneLine } from "../format/plain-text.ts";
import type { Total } from "../format/usage.ts";
import { Dollars, Live, Tokens, Used } from "../components/figure.tsx";
import { RowList, type RowListProps } from "../components/row-list.tsx";
import { indexOfKey, rowAt, spanOf, type Row, type Span } from "./tree/rows.ts";
import type { TraceState } from "./trace-state.ts";

interface TreeTableProps extends Pick<RowListProps, "active" | "chosen" | "onActive" | "onOpen" | "onKey"> {
  readonly state: TraceState;
  /** The time of the bars. */
  readonly axis: Span;
  /** The usage of the calls is being loaded. */
  readonly isAdding: boolean;
  readonly opened: string | undefined;
  readonly onFold: (key: string) => void;
}

export function TreeTable({ state, axis, isAdding, opened, onFold, ...list }: TreeTableProps) {
  const { tree, rows } = state;
  const rowOf = (index: number): Row | undefined => rowAt(tree, rows, index);
  const keys = useMemo(
    () => ({
      at: (index: number) => rowAt(tree, rows, index)?.key,
      indexOf: (key: string) => indexOfKey(tree, rows, key),
    }),
    [tree, rows],
  );
  return (
    <RowList
      {...list}
      id="call"
      role="treegrid"
      label="Calls of the trace"
      className="tree"
      count={rows.lines.length}
      keys={keys}
      header={<Head axis={axis} />}
      aria={(index) => ({ level: (rows.depths[index] ?? 0) + 1, expanded: rowOf(index)?.open })}
      rowClass={(index) => (rowOf(index)?.key === opened ? "opened" : "")}
      row={(index) => {
        const row = rowOf(index);
        return row && <Cells {...{ row, state, axis, isAdding, onFold }} />;
      }}
    />
  );
}

const TOTAL = "With everything below, each completion once; before it what the call itself adds to the trace";

function Head({ axis }: { readonly axis: Span }) {
  return (
    <>
      <span role="columnheader">call</span>
      <span role="columnheader" className="number tokens" title={TOTAL}>
        tokens
      </span>
      <span role="columnheader" className="number" title={TOTAL}>
        cost
      </span>
      <span role="columnheader" className="bars" aria-label="when">
        {[0, 0.25, 0.5, 0.75].map((part) => (
          <span key={part} className="mark" style={{ left: `${part * 100}%` }}>
            {formatDuration((axis.toMs - axis.fromMs) * part).text}
          </span>
        ))}
      </span>
    </>
  );
}

interface CellsProps extends Pick<TreeTableProps, "state" | "axis" | "isAdding" | "onFold"> {
  readonly row: Row;
}

const INDENT_PX = 16;
const MAX_INDENTS = 24;

function Cells({ row, state, axis, isAdding, onFold }: CellsProps) {
  const { treeUsage } = state;
  const total =
    row.group === undefined ? treeUsage?.total(row.call.position) : treeUsage?.group(row.group.position);
  const own = row.group === undefined ? treeUsage?.own(row.call.position) : undefined;
  const llms = row.group === undefined ? treeUsage?.llms(row.call.position) : undefined;
  const indentPx = Math.min(row.depth, MAX_INDENTS) * INDENT_PX;
  return (
    <>
      <span role="gridcell" className="name" style={{ paddingLeft: `min(${6 + indentPx}px, 60%)` }}>
        {/* a line for each ancestor */}
        <i className="guides" style={{ width: `${indentPx}px` }} />
        <Fold row={row} onFold={onFold} />
        <Name row={row} unfinished={state.unfinished} />
        {llms?.[0] !== undefined && (
          <bdi className="model" title={llms.map((llm) => oneLine(llm, 60)).join(", ")}>
            {oneLine(llms[0], 40)}
            {llms.length > 1 && ` +${llms.length - 1}`}
          </bdi>
        )}
      </span>
      <span role="gridcell" className="number tokens">
        {own !== undefined && own.tokens > 0 && own.tokens !== total?.tokens && (
          <span className="own">
            <Tokens count={own.tokens} /> of{" "}
          </span>
        )}
        <Used {...{ total, isAdding }} of="tokens" />
      </span>
      <span role="gridcell" className="number cost">
        {own !== undefined && own.usd !== 0 && own.usd !== total?.usd && (
          <span className="own">
            <Dollars total={own} /> of{" "}
          </span>
        )}
        <Used {...{ total, isAdding }} of="usd" />
      </span>
      <span role="gridcell" className="bars">
        <Bar row={row} axis={axis} share={shareOf(total, treeUsage?.all)} />
      </span>
    </>
  );
}

function Fold({ row, onFold }: Pick<CellsProps, "row" | "onFold">) {
  if (row.open === undefined) return <span className="fold" />;
  return (
    <button
      className="fold"
      tabIndex={-1}
      aria-label={row.open ? "Fold" : "Unfold"}
      onClick={() => onFold(row.key)}
    >
      {row.open ? "▾" : "▸"}
    </button>
  );
}

function Name({ row, unfinished }: { readonly row: Row; readonly unfinished: TraceState["unfinished"] }) {
  const { call, group, open } = row;
  if (group !== undefined) {
    return (
      <>
        <bdi className="text">{call.name}</bdi>
        <span className="times">×{group.members.length}</span>
        {group.failed > 0 && <span className="failed">{group.failed} failed</span>}
      </>
    );
  }
  const below = call.errors - (call.exception === null ? 0 : 1);
  return (
    <>
      {call.exception !== null && (
        <span className="failed" title={call.exception}>
          <span aria-hidden="true">✕</span>
          <span className="unseen">failed: </span>
        </span>
      )}
      <bdi className="text" title={call.name} data-call={call.id}>
        {call.name}
      </bdi>
      {unfinished.has(call.position) && <Live />}
      {open === false && <span className="times">{call.calls - 1} below</span>}
      {open === false && below > 0 && <span className="failed">{below} failed</span>}
    </>
  );
}

/** Undefined: a cost is not known. */
function shareOf(total: Total | undefined, all: Total | undefined): number | undefined {
  return total?.usd == null || all?.usd == null || all.usd === 0 ? undefined : total.usd / all.usd;
}

interface BarProps extends Pick<CellsProps, "row" | "axis"> {
  /** Part of the cost of the trace, 0..1. */
  readonly share: number | undefined;
}

/** When a call ran; the height of the dark part shows its share of the trace's cost. */
function Bar({ row, axis, share = 0 }: BarProps) {
  const { call, group } = row;
  const { endMs } = group ?? call;
  const { fromMs, toMs } = spanOf(row, axis);
  const [shownFrom, shownTo] = [Math.max(fromMs, axis.fromMs), Math.min(toMs, axis.toMs)];
  if (shownTo < shownFrom) return null;
  const percent = (ms: number): string => `${(ms / Math.max(1, axis.toMs - axis.fromMs)) * 100}%`;
  return (
    <span
      className={`bar ${endMs === null ? "running" : ""}`}
      style={{ left: percent(shownFrom - axis.fromMs), width: percent(shownTo - shownFrom) }}
    >
      {share > 0 && <i style={{ height: `${share * 100}%` }} />}
      <span className="took">
        <span className="unseen">begins after {formatDuration(shownFrom - axis.fromMs).text}, takes </span>
        {endMs === null ? "live" : formatDuration(endMs - call.startMs).text}
      </span>
    </span>
  );
}
