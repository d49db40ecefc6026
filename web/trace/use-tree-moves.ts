import { useMemo, useState } from "react";
import type { UrlState } from "../state/url-state.ts";
import type { Go } from "../state/use-address.ts";
import { idAt } from "./tree/call-tree.ts";
import { openedFor, type ExpandedState } from "./tree/expanded-state.ts";
import { indexOfKey, isGroup, keyAt } from "./tree/rows.ts";
import { NOT_FOUND } from "./tree/text-index.ts";
import { nextOf, positionOfRow } from "./tree/walk.ts";
import type { TraceState } from "./trace-state.ts";

export type ChangeFolding = (folding: ExpandedState, more?: UrlState["options"]) => void;

interface TreeMovesProps {
  readonly options: UrlState["options"];
  /** The call whose details are shown. */
  readonly opened: string | undefined;
  readonly go: Go;
  readonly state: TraceState;
  readonly folding: ExpandedState;
  readonly changeFolding: ChangeFolding;
}

export interface TreeMoves {
  /** The active row; -1: folding hides it. Initially the opened call, or else the first row. */
  readonly active: number;
  /** Its call. */
  readonly position: number;
  /** Changes whenever a row is chosen, even the same one. */
  readonly turn: number;
  readonly choose: (key: string | undefined) => void;
  /** Opens the details of a row. */
  readonly open: (index: number) => void;
  readonly close: () => void;
  readonly fold: (key: string) => void;
  /** Unfolds what hides a call, and goes there. */
  readonly reveal: (position: number) => void;
  readonly revealNext: (isWanted: (position: number) => boolean) => void;
}

/** Choosing, opening and folding rows of the tree. */
export function useTreeMoves({
  options,
  opened,
  go,
  state: { tree, rows },
  folding,
  changeFolding,
}: TreeMovesProps): TreeMoves {
  const [{ key, turn }, setChosen] = useState({ key: opened ?? keyAt(tree, rows, 0), turn: 0 });
  const active = useMemo(() => indexOfKey(tree, rows, key), [tree, rows, key]);
  const position = positionOfRow(tree, rows, active);
  const choose = (key: string | undefined): void => setChosen(({ turn }) => ({ key, turn: turn + 1 }));
  const fold = (key: string): void => {
    const changed = new Set(folding.changed);
    if (!changed.delete(key)) changed.add(key);
    changeFolding({ ...folding, changed });
  };
  const reveal = (position: number): void => {
    const call = idAt(tree, position);
    const changed = openedFor(tree, position, folding);
    changeFolding({ ...folding, changed }, opened === undefined ? {} : { call });
    choose(call);
  };
  return {
    active,
    position,
    turn,
    choose,
    fold,
    reveal,
    revealNext(isWanted) {
      const next = nextOf(tree, position, isWanted);
      if (next !== NOT_FOUND) reveal(next);
    },
    open(index) {
      const key = keyAt(tree, rows, index);
      if (key === undefined) return;
      if (isGroup(rows.lines[index]!)) fold(key);
      else
        go({ options: { ...options, call: key, panel: "" } }, opened === undefined ? undefined : "replace");
    },
    close: () => go({ options: { ...options, call: "", tab: "", panel: "closed" } }),
  };
}
