import { useMemo } from "react";
import { formatDuration } from "../format/figure.ts";
import type { Total } from "../format/usage.ts";
import { Dollars, Live, Tokens } from "../components/figure.tsx";
import { RowList, ROW_PX, type KeyPress } from "../components/row-list.tsx";
import { UsageOrPlaceholder } from "../components/used-or.tsx";
import type { Axis, Bar } from "./bars.ts";
import type { TreeUsage } from "./tree/tree-usage.ts";
import { indexOfKey, keyAt, rowAt, type Row } from "./tree/rows.ts";
import type { TraceState } from "./trace-state.ts";
import { Waterfall } from "./waterfall.tsx";

interface TreeTableProps {
  readonly state: TraceState;
  /** The usage of the calls is being loaded. */
  readonly isAdding: boolean;
  readonly active: number;
  readonly opened: string | undefined;
  /** Changes when a row is chosen. */
  readonly chosen: unknown;
  readonly onActive: (index: number) => void;
  readonly onOpen: (index: number) => void;
  readonly onFold: (key: string) => void;
  readonly onKey: (event: KeyPress) => boolean;
}

export function TreeTable({ state, isAdding, opened, onFold, ...list }: TreeTableProps) {
  const { tree, rows, treeUsage, axis, unfinished } = state;
  const rowOf = (index: number): Row | undefined => rowAt(tree, rows, state.opened, index);
  const whole = treeUsage?.all.usd ?? 0;
  const keys = useMemo(
    () => ({
      at: (index: number) => keyAt(tree, rows, index),
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
      rowClass={(index) => (keyAt(tree, rows, index) === opened ? "opened" : "")}
      row={(index) => {
        const row = rowOf(index);
        return row && <Cells {...{ row, treeUsage, isAdding, unfinished, axis, onFold }} />;
      }}
      layer={({ first, last, offsetPx }) => (
        <Waterfall
          axis={axis}
          offsetPx={offsetPx}
          bars={Array.from({ length: last + 1 - first }, (_, at) => rowOf(first + at)).flatMap((row, at) =>
            row === undefined ? [] : [barOf(row, { topPx: (first + at) * ROW_PX, treeUsage, whole, axis })],
          )}
        />
      )}
    />
  );
}

const TOTAL = "With everything below, each completion once; before it what the call itself adds to the trace";

function Head({ axis }: { readonly axis: Axis }) {
  const marks = [0, 0.25, 0.5, 0.75].map((part) => formatDuration((axis.toMs - axis.fromMs) * part).text);
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
        {marks.map((mark, at) => (
          <span key={at} className={`mark at-${at}`}>
            {mark}
          </span>
        ))}
      </span>
    </>
  );
}

interface CellsProps {
  readonly row: Row;
  readonly treeUsage: TreeUsage | undefined;
  readonly isAdding: boolean;
  readonly unfinished: TraceState["unfinished"];
  readonly axis: Axis;
  readonly onFold: (key: string) => void;
}

function Cells({ row, treeUsage, isAdding, unfinished, axis, onFold }: CellsProps) {
  const total = treeUsage && totalOfRow(row, treeUsage);
  const own = row.kind === "call" ? treeUsage?.own(row.call.position) : undefined;
  return (
    <>
      <span
        role="gridcell"
        className="name"
        style={{ paddingLeft: `min(${6 + Math.min(row.depth, 24) * 16}px, 60%)` }}
      >
        <Guides depth={row.depth} />
        <Fold row={row} onFold={onFold} />
        <Name row={row} unfinished={unfinished} />
      </span>
      <span role="gridcell" className="number tokens">
        {own !== undefined && own.tokens !== total?.tokens && (
          <span className="own">
            <Tokens count={own.tokens} /> of{" "}
          </span>
        )}
        <UsageOrPlaceholder {...{ total, isAdding }} show={({ tokens }) => <Tokens count={tokens} />} />
      </span>
      <span role="gridcell" className="number cost">
        {own !== undefined && own.usd !== total?.usd && (
          <span className="own">
            <Dollars total={own} /> of{" "}
          </span>
        )}
        <UsageOrPlaceholder {...{ total, isAdding }} show={(total) => <Dollars total={total} />} />
      </span>
      <span role="gridcell" className="bars">
        <span className="unseen">{timesOf(row, axis)}</span>
      </span>
    </>
  );
}

function totalOfRow(row: Row, treeUsage: TreeUsage): Total {
  return row.kind === "call" ? treeUsage.total(row.call.position) : treeUsage.group(row.group.position);
}

/** A line for each ancestor. */
function Guides({ depth }: { readonly depth: number }) {
  return <i className="guides" style={{ width: `${Math.min(depth, 24) * 16}px` }} />;
}

function Fold({ row, onFold }: { readonly row: Row; readonly onFold: (key: string) => void }) {
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
  if (row.kind === "group") {
    const { name, members, failed } = row.group;
    return (
      <>
        <bdi className="text">{name}</bdi>
        <span className="times">×{members.length}</span>
        {failed > 0 && <span className="failed">{failed} failed</span>}
      </>
    );
  }
  const { call } = row;
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
      {row.open === false && <span className="times">{call.calls - 1} below</span>}
      {row.open === false && below > 0 && <span className="failed">{below} failed</span>}
    </>
  );
}

function timesOf(row: Row, axis: Axis): string {
  const { startMs, endMs } = timesOfRow(row, axis);
  return `begins after ${formatDuration(startMs - axis.fromMs).text}, takes ${formatDuration(endMs - startMs).text}`;
}

function timesOfRow(
  row: Row,
  axis: Axis,
): { readonly startMs: number; readonly endMs: number; readonly running: boolean } {
  if (row.kind === "call") {
    const { startMs, endMs } = row.call;
    return { startMs, endMs: endMs ?? axis.toMs, running: endMs === null };
  }
  const { fromMs, toMs, running } = row.group;
  return { startMs: fromMs, endMs: running ? Math.max(toMs, axis.toMs) : toMs, running };
}

interface BarContext {
  readonly topPx: number;
  readonly treeUsage: TreeUsage | undefined;
  /** The cost of the whole trace. */
  readonly whole: number;
  readonly axis: Axis;
}

function barOf(row: Row, { topPx, treeUsage, whole, axis }: BarContext): Bar {
  const usd = treeUsage === undefined ? null : totalOfRow(row, treeUsage).usd;
  return {
    topPx,
    ...timesOfRow(row, axis),
    failed: row.kind === "call" ? row.call.exception !== null : row.group.failed > 0,
    share: usd === null || whole === 0 ? undefined : usd / whole,
  };
}
