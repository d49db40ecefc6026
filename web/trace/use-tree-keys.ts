import type { RefObject } from "react";
import type { KeyPress } from "../components/row-list.tsx";
import { keyAt, rowAt } from "./tree/rows.ts";
import { rowAbove, rowBelow } from "./tree/walk.ts";
import type { TraceState } from "./trace-state.ts";

interface TreeKeys {
  readonly state: TraceState;
  readonly active: number;
  readonly choose: (key: string | undefined) => void;
  readonly fold: (key: string) => void;
  readonly nextFailed: () => void;
  /** Among these calls and everything below them; default: of the whole trace. */
  readonly revealCostliest: (tops?: Iterable<number>) => void;
  readonly close: () => void;
  readonly find: RefObject<HTMLInputElement | null>;
}

/** Right and left fold, `/` finds, `e` goes to the next error, `$` to the dearest call of the row, Escape closes the details. */
export function useTreeKeys(keys: TreeKeys): (event: KeyPress) => boolean {
  const { state, active, choose, fold, nextFailed, revealCostliest, close, find } = keys;
  const { tree, rows, opened } = state;
  const row = rowAt(tree, rows, opened, active);
  const goTo = (index: number): void => choose(keyAt(tree, rows, index));
  const actions: Readonly<Record<string, () => void>> = {
    ArrowRight: () => (row?.open === false ? fold(row.key) : goTo(rowBelow(rows, active))),
    ArrowLeft: () => (row?.open === true ? fold(row.key) : goTo(rowAbove(rows, active))),
    Escape: close,
    "/": () => find.current?.focus(),
    e: nextFailed,
    $: () => revealCostliest(row?.kind === "group" ? row.group.members : row && [row.call.position]),
  };
  return ({ key }) => {
    if (!Object.hasOwn(actions, key)) return false;
    actions[key]?.();
    return true;
  };
}
