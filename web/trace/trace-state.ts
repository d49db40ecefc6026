import { useMemo } from "react";
import { countOf, extentOf, type CallTree } from "./tree/call-tree.ts";
import { openedBy, type ExpandedState, type Opened } from "./tree/expanded-state.ts";
import { treeUsageOf, type TreeUsage } from "./tree/tree-usage.ts";
import { rowsOf, type Rows } from "./tree/rows.ts";
import type { LoadedTrace } from "./load/load-trace.ts";

/** A trace ready to be shown. */
export interface TraceState {
  readonly tree: CallTree;
  readonly opened: Opened;
  readonly rows: Rows;
  /** Undefined: what calls used is not known yet. */
  readonly treeUsage: TreeUsage | undefined;
  readonly axis: { readonly fromMs: number; readonly toMs: number };
  readonly unfinished: Unfinished;
}

interface Unfinished {
  readonly count: number;
  has(position: number): boolean;
}

export function useTraceState(
  trace: LoadedTrace | undefined,
  folding: ExpandedState,
): TraceState | undefined {
  const [tree, used] = [trace?.tree, trace?.used];
  const axis = useMemo(() => tree && extentOf(tree, Date.now()), [tree]);
  const opened = useMemo(() => tree && openedBy(tree, folding), [tree, folding]);
  const rows = useMemo(() => tree && opened && rowsOf(tree, opened), [tree, opened]);
  const treeUsage = useMemo(() => tree && used && treeUsageOf(tree, used.total, used.own), [tree, used]);
  const unfinished = useMemo(() => tree && unfinishedIn(tree, used), [tree, used]);
  return useMemo(
    () => tree && opened && rows && axis && unfinished && { tree, opened, rows, treeUsage, axis, unfinished },
    [tree, opened, rows, treeUsage, axis, unfinished],
  );
}

function unfinishedIn(tree: CallTree, used: LoadedTrace["used"]): Unfinished {
  const has = (position: number): boolean =>
    used === undefined ? Number.isNaN(tree.endMs[position]!) : used.unfinished[position] === 1;
  let count = 0;
  for (let position = 0; position < countOf(tree); position++) if (has(position)) count++;
  return { count, has };
}

/** Folding in the address: the keys of the exceptions. If there are too many, only the tab keeps them. */
const MAX_FOLD_CHARS = 1500;

export function readFolding(options: Readonly<Record<string, string>>): ExpandedState {
  return { changed: new Set(keysIn(options["fold"])), groupsOpen: options["groups"] === "open" };
}

function keysIn(text: string | undefined): readonly string[] {
  try {
    const keys: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(keys) ? keys.filter((key) => typeof key === "string") : [];
  } catch {
    return [];
  }
}

export function printFolding({ changed, groupsOpen }: ExpandedState): {
  readonly fold: string;
  readonly groups: string;
} {
  const fold = changed.size === 0 ? "" : JSON.stringify([...changed]);
  return { fold: fold.length > MAX_FOLD_CHARS ? "" : fold, groups: groupsOpen ? "open" : "" };
}
