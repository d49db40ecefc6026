import type { RefObject } from "react";
import type { KeyPress } from "../components/row-list.tsx";
import { keyAt, rowAt } from "./tree/rows.ts";
import { costliestDescendant, positionOfRow, rowAbove, rowBelow } from "./tree/walk.ts";
import type { TraceState } from "./trace-state.ts";

interface TreeKeys {
  readonly state: TraceState;
  readonly active: number;
  readonly choose: (key: string | undefined) => void;
  readonly fold: (key: string) => void;
  readonly reveal: (position: number) => void;
  readonly nextFailed: () => void;
  readonly close: () => void;
  readonly find: RefObject<HTMLInputElement | null>;
}

/** Right and left fold, `/` finds, `e` goes to the next error, `$` to the call that made the bill, Escape closes the details. */
export function useTreeKeys(keys: TreeKeys): (event: KeyPress) => boolean {
  const { state, active, choose, fold, reveal, nextFailed, close, find } = keys;
  const { tree, rows, opened, treeUsage } = state;
  const row = rowAt(tree, rows, opened, active);
  const goTo = (index: number): void => choose(keyAt(tree, rows, index));
  const actions: Readonly<Record<string, () => void>> = {
    ArrowRight: () => (row?.open === false ? fold(row.key) : goTo(rowBelow(rows, active))),
    ArrowLeft: () => (row?.open === true ? fold(row.key) : goTo(rowAbove(rows, active))),
    Escape: close,
    "/": () => find.current?.focus(),
    e: nextFailed,
    $: () => {
      const from = Math.max(0, positionOfRow(tree, rows, active));
      if (treeUsage !== undefined) reveal(costliestDescendant(tree, from, treeUsage));
    },
  };
  return ({ key }) => {
    if (!Object.hasOwn(actions, key)) return false;
    actions[key]?.();
    return true;
  };
}
