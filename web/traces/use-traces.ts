import { useLoad, type Load } from "../api/use-load.ts";
import { loadChosen, loadNewest, type TraceRow } from "./load-rows.ts";
import { loadTotals, type WindowTotals } from "./load-totals.ts";
import type { TracesQuestion } from "./traces-question.ts";
import { useLiveRows } from "./use-live-rows.ts";

export interface Traces {
  readonly rows: readonly TraceRow[] | undefined;
  readonly totals: WindowTotals | undefined;
  readonly busy: boolean;
  /** What there is to say of the asking. */
  readonly said: Load<unknown>;
  readonly again: () => void;
}

/** The newest rows are there before it is known what all traces of the window cost; the largest are chosen by that. */
export function useTraces(question: TracesQuestion): Traces {
  const totals = useLoad(JSON.stringify({ ...question, sort: undefined }), (asking) =>
    loadTotals(question, asking),
  );
  const { value, busy, settled } = totals;
  const isNewest = question.sort === "newest" && question.cost === undefined;
  const known = busy ? undefined : value;
  const key = isNewest
    ? JSON.stringify(question)
    : known && JSON.stringify([question.project, question.sort, settled]);
  const rows = useLoad(key, (asking) =>
    isNewest || known === undefined
      ? loadNewest(question, asking)
      : loadChosen(known.byRoot, question, asking),
  );
  const shown = useLiveRows(question.project, key === undefined ? undefined : rows.value);
  const isQuiet = totals.failure === undefined && !totals.stopped && key !== undefined;
  return {
    rows: shown,
    totals: value,
    busy: busy || rows.busy,
    said: isQuiet ? rows : totals,
    again: () => {
      totals.again();
      if (isNewest) rows.again();
    },
  };
}
