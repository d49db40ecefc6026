import { useMemo } from "preact/hooks";
import type { LoadedTrace } from "./load-trace.ts";
import { ledgerOf, type Ledger } from "./ledger.ts";
import { rowsOf, type Folding, type Row } from "./rows.ts";
import { extentOf, treeOf, type TreeNode } from "./tree.ts";

/** A trace ready to be shown. */
export interface TraceState {
  readonly roots: readonly TreeNode[];
  readonly ledger: Ledger;
  readonly rows: readonly Row[];
  readonly axis: { readonly fromMs: number; readonly toMs: number };
  readonly unfinished: ReadonlySet<string>;
}

export function useTraceState(trace: LoadedTrace | undefined, folding: Folding): TraceState | undefined {
  const base = useMemo(() => {
    if (trace === undefined) return undefined;
    return {
      roots: treeOf(trace.calls),
      ledger: ledgerOf(trace.usage.call_usage, trace.own),
      axis: extentOf(trace.calls, Date.now()),
      unfinished: new Set(trace.usage.unfinished_call_ids),
    };
  }, [trace]);
  return useMemo(() => base && { ...base, rows: rowsOf(base.roots, folding) }, [base, folding]);
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
