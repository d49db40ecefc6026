import { useRef } from "preact/hooks";
import { useLoad, type Load } from "../api/use-load.ts";
import { loadChosen, loadNewest, type TraceRow } from "./load-rows.ts";
import { loadTotals, type WindowTotals } from "./load-totals.ts";
import type { TracesQuestion } from "./traces-question.ts";
import { useLiveRows } from "./use-live-rows.ts";

export interface Traces {
  readonly rows: readonly TraceRow[] | undefined;
  readonly totals: WindowTotals | undefined;
  readonly busy: boolean;
  /** The question and round that the rows answer. */
  readonly asked: string;
  /** Progress and failures. */
  readonly asking: Load<unknown>;
  readonly again: () => void;
}

/** The newest rows are shown before the cost of the whole window is known; the largest are chosen by it. */
export function useTraces(question: TracesQuestion): Traces {
  const isNewest = question.sort === "newest" && question.cost === undefined;
  const newest = useLoad<readonly TraceRow[]>(isNewest ? JSON.stringify(question) : undefined, (asking) =>
    loadNewest(question, asking),
  );
  // the cost of all traces is much work: it begins when there are rows to look at
  const wanted = JSON.stringify({ ...question, sort: undefined });
  const begun = useRef<string | undefined>(undefined);
  if (!isNewest || !newest.busy || newest.value !== undefined) begun.current = wanted;
  const isFirst = begun.current !== wanted;
  const totals = useLoad(isFirst ? undefined : wanted, (asking) => loadTotals(question, asking));
  const known = isNewest || totals.busy ? undefined : totals.value;
  const chosen = useLoad<readonly TraceRow[]>(
    known && JSON.stringify([question.project, question.sort, totals.answered]),
    (asking) => loadChosen(known?.byRoot ?? new Map(), question, asking),
  );
  const rows = isNewest ? newest : chosen;
  const areAsked = isNewest || known !== undefined;
  const live = useLiveRows(question.project, areAsked ? rows.value : undefined);
  const byRoot = totals.busy ? undefined : totals.value?.byRoot;
  const shown = live?.map((row) => ({ ...row, total: row.total ?? byRoot?.get(row.call.id) }));
  const isQuiet = totals.failure === undefined && !totals.stopped && areAsked;
  return {
    rows: shown,
    totals: isFirst ? undefined : totals.value,
    busy: totals.busy || rows.busy,
    asked: rows.answered ?? "",
    asking: isQuiet ? rows : totals,
    again: () => {
      totals.again();
      if (isNewest) newest.again();
    },
  };
}
