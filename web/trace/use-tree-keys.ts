import type { RefObject } from "preact";
import type { TraceState } from "./trace-state.ts";
import { dearestBelow, nodeOfRow, rowAbove, rowBelow } from "./walk.ts";

interface TreeKeys {
  readonly state: TraceState;
  readonly active: number;
  readonly setActiveKey: (key: string | undefined) => void;
  readonly fold: (key: string) => void;
  readonly reveal: (id: string) => void;
  readonly nextFailed: () => void;
  readonly close: () => void;
  readonly find: RefObject<HTMLInputElement | null>;
}

/** Right and left fold, `/` finds, `e` goes to the next error, `$` to the call that made the bill, Escape closes the details. */
export function useTreeKeys(keys: TreeKeys): (event: KeyboardEvent) => boolean {
  const { state, active, setActiveKey, fold, reveal, nextFailed, close, find } = keys;
  const { rows, roots, ledger } = state;
  const row = rows[active];
  const actions: Readonly<Record<string, () => void>> = {
    ArrowRight: () => (row?.open === false ? fold(row.key) : setActiveKey(rows[rowBelow(rows, active)]?.key)),
    ArrowLeft: () => (row?.open === true ? fold(row.key) : setActiveKey(rows[rowAbove(rows, active)]?.key)),
    Escape: close,
    "/": () => find.current?.focus(),
    e: nextFailed,
    $: () => {
      const from = nodeOfRow(row) ?? roots[0];
      if (from !== undefined && ledger !== undefined) reveal(dearestBelow(from, ledger).call.id);
    },
  };
  return ({ key }) => {
    if (!Object.hasOwn(actions, key)) return false;
    actions[key]?.();
    return true;
  };
}
