import { useMemo, useState } from "react";
import { indexOfKey, keyAt } from "./tree/rows.ts";
import { positionOfRow } from "./tree/walk.ts";
import type { TraceState } from "./trace-state.ts";

/** The active row. */
export interface Choice {
  /** -1: folding hides it. */
  readonly active: number;
  /** Id of its call. */
  readonly position: number;
  /** Changes whenever a row is chosen, even the same one. */
  readonly turn: number;
  readonly choose: (key: string | undefined) => void;
}

/** Initially the opened call, or else the first row. */
export function useSelection({ tree, rows }: TraceState, opened: string | undefined): Choice {
  const [{ key, turn }, setChosen] = useState({ key: opened ?? keyAt(tree, rows, 0), turn: 0 });
  const active = useMemo(() => indexOfKey(tree, rows, key), [tree, rows, key]);
  const choose = (key: string | undefined): void => setChosen(({ turn }) => ({ key, turn: turn + 1 }));
  return { active, position: positionOfRow(tree, rows, active), turn, choose };
}
