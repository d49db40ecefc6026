import { useMemo, useState } from "preact/hooks";
import { indexOfKey, keyAt } from "./columns/rows.ts";
import { placeOfRow } from "./columns/walk.ts";
import type { TraceState } from "./trace-state.ts";

/** The row that somebody is at. */
export interface Choice {
  /** -1: it is folded away. */
  readonly active: number;
  /** Of its call. */
  readonly place: number;
  /** Another than before whenever a row was chosen, were it the same one. */
  readonly turn: number;
  readonly choose: (key: string | undefined) => void;
}

/** At first the call that is opened, else the first row. */
export function useChoice({ tree, rows }: TraceState, opened: string | undefined): Choice {
  const [{ key, turn }, setChosen] = useState({ key: opened ?? keyAt(tree, rows, 0), turn: 0 });
  const active = useMemo(() => indexOfKey(tree, rows, key), [tree, rows, key]);
  const choose = (key: string | undefined): void => setChosen(({ turn }) => ({ key, turn: turn + 1 }));
  return { active, place: placeOfRow(tree, rows, active), turn, choose };
}
