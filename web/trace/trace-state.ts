import { useMemo } from "react";
import { countOf, extentOf, type CallTree } from "./tree/call-tree.ts";
import { treeUsageOf, type TreeUsage } from "./tree/tree-usage.ts";
import { rowsOf, type ExpandedState, type Rows, type Span } from "./tree/rows.ts";
import type { LoadedTrace } from "./load/load-trace.ts";

/** A trace ready to be shown. */
export interface TraceState {
  readonly tree: CallTree;
  readonly rows: Rows;
  /** Undefined: what calls used is not known yet. */
  readonly treeUsage: TreeUsage | undefined;
  /** Start and end of the trace. */
  readonly axis: Span;
  readonly unfinished: { readonly count: number; has(position: number): boolean };
}

export function useTraceState(
  { tree, used }: LoadedTrace,
  { changed, groupsOpen }: ExpandedState,
): TraceState {
  return {
    tree,
    rows: useMemo(() => rowsOf(tree, { changed, groupsOpen }), [tree, changed, groupsOpen]),
    treeUsage: useMemo(() => used && treeUsageOf(tree, used.total, used.own), [tree, used]),
    axis: useMemo(() => extentOf(tree, Date.now()), [tree]),
    unfinished: useMemo(() => unfinishedIn(tree, used), [tree, used]),
  };
}

function unfinishedIn(tree: CallTree, used: LoadedTrace["used"]): TraceState["unfinished"] {
  const has = (position: number): boolean =>
    used === undefined ? Number.isNaN(tree.endMs[position]!) : used.unfinished[position] === 1;
  let count = 0;
  for (let position = 0; position < countOf(tree); position++) if (has(position)) count++;
  return { count, has };
}
