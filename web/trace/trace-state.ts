import { useMemo } from "preact/hooks";
import type { LoadedTrace } from "./load-trace.ts";
import { ledgerOf, type Ledger } from "./ledger.ts";
import { rowsOf, type Folding, type Row } from "./rows.ts";
import type { TraceCall } from "./trace-call.ts";
import { extentOf, treeOf, type TreeNode } from "./tree.ts";

/** A trace ready to be shown. */
export interface TraceState {
  readonly roots: readonly TreeNode[];
  /** Undefined: what calls used is not known yet. */
  readonly ledger: Ledger | undefined;
  readonly rows: readonly Row[];
  readonly axis: { readonly fromMs: number; readonly toMs: number };
  readonly unfinished: ReadonlySet<string>;
}

export function useTraceState(trace: LoadedTrace | undefined, folding: Folding): TraceState | undefined {
  const [calls, used] = [trace?.calls, trace?.used];
  const tree = useMemo(() => calls && { roots: treeOf(calls), axis: extentOf(calls, Date.now()) }, [calls]);
  const rows = useMemo(() => tree && rowsOf(tree.roots, folding), [tree, folding]);
  const ledger = useMemo(() => used && ledgerOf(used.total, used.own), [used]);
  const unfinished = useMemo(() => new Set(unfinishedIn(calls ?? [], used)), [calls, used]);
  return useMemo(
    () => (tree === undefined || rows === undefined ? undefined : { ...tree, rows, ledger, unfinished }),
    [tree, rows, ledger, unfinished],
  );
}

function unfinishedIn(calls: readonly TraceCall[], used: LoadedTrace["used"]): readonly string[] {
  return used?.unfinishedIds ?? calls.flatMap(({ id, endMs }) => (endMs === null ? [id] : []));
}

/** Folding as the address has it: the keys that are not as at first. Too many of them stay with the tab alone. */
const MAX_FOLD_CHARS = 1500;

export function readFolding(options: Readonly<Record<string, string>>): Folding {
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

export function printFolding({ changed, groupsOpen }: Folding): {
  readonly fold: string;
  readonly groups: string;
} {
  const fold = changed.size === 0 ? "" : JSON.stringify([...changed]);
  return { fold: fold.length > MAX_FOLD_CHARS ? "" : fold, groups: groupsOpen ? "open" : "" };
}
