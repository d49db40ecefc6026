import { useMemo, useState, type RefObject } from "react";
import type { KeyPress } from "../components/row-list.tsx";
import type { UrlState } from "../state/url-state.ts";
import type { Go } from "../state/use-address.ts";
import { childrenOf, hasFailed, idAt } from "./tree/call-tree.ts";
import { costliestCall, nextOf } from "./tree/find.ts";
import {
  indexOfKey,
  openedFor,
  rowAbove,
  rowAt,
  rowBelow,
  spanOf,
  type ExpandedState,
  type Span,
} from "./tree/rows.ts";
import { NOT_FOUND } from "./tree/text-column.ts";
import type { TraceState } from "./trace-state.ts";

interface TreeMovesProps {
  readonly options: UrlState["options"];
  /** The call whose details are shown. */
  readonly opened: string | undefined;
  readonly go: Go;
  readonly state: TraceState;
  readonly expanded: ExpandedState;
  readonly setChanged: (changed: ExpandedState["changed"]) => void;
  readonly find: RefObject<HTMLInputElement | null>;
}

/** Choosing, opening and folding rows of the tree. Initially the opened call is active, or else the first row. */
export function useTreeMoves(props: TreeMovesProps) {
  const { options, opened, go, state, expanded, setChanged, find } = props;
  const { tree, rows, treeUsage } = state;
  const keyAt = (index: number): string | undefined => rowAt(tree, rows, index)?.key;
  const [{ key, turn }, setChosen] = useState({ key: opened ?? keyAt(0), turn: 0 });
  /** The time of the bars; undefined: that of the trace. */
  const [zoomed, setZoomed] = useState<Span | undefined>(undefined);
  const active = useMemo(() => indexOfKey(tree, rows, key), [tree, rows, key]);
  const row = rowAt(tree, rows, active);
  const position = row?.call.position ?? NOT_FOUND;
  const choose = (key: string | undefined): void => setChosen(({ turn }) => ({ key, turn: turn + 1 }));
  const goTo = (index: number): void => choose(keyAt(index));
  const fold = (key: string): void => setChanged(expanded.changed.symmetricDifference(new Set([key])));
  /** Unfolds what hides a call, and goes there. */
  const reveal = (position: number): void => {
    if (position === NOT_FOUND) return;
    const call = idAt(tree, position);
    setChanged(openedFor(tree, position, expanded));
    if (opened !== undefined) go({ options: { ...options, call } }, "replace");
    choose(call);
  };
  const revealNext = (isWanted: (position: number) => boolean): void =>
    reveal(nextOf(tree, position, isWanted));
  const nextFailed = (): void => revealNext((next) => hasFailed(tree, next));
  /** Among these calls and everything below them. */
  const revealCostliest = (tops: Iterable<number> = childrenOf(tree, NOT_FOUND)): void => {
    if (treeUsage !== undefined) reveal(costliestCall(tree, tops, treeUsage));
  };
  const zoom = (): void =>
    setZoomed(zoomed === undefined && row !== undefined ? spanOf(row, state.axis) : undefined);
  const close = (): void => go({ options: { ...options, call: "", tab: "", panel: "closed" } });
  const open = (index: number): void => {
    const row = rowAt(tree, rows, index);
    if (row?.group !== undefined) fold(row.key);
    else if (row !== undefined)
      go({ options: { ...options, call: row.key, panel: "" } }, opened === undefined ? undefined : "replace");
  };
  const actions: Readonly<Record<string, () => void>> = {
    ArrowRight: () => (row?.open === false ? fold(row.key) : goTo(rowBelow(rows, active))),
    ArrowLeft: () => (row?.open === true ? fold(row.key) : goTo(rowAbove(rows, active))),
    Escape: close,
    "/": () => find.current?.focus(),
    e: nextFailed,
    z: zoom,
    $: () => revealCostliest(row && (row.group?.members ?? [position])),
  };
  const onKey = ({ key }: KeyPress): boolean => {
    if (!Object.hasOwn(actions, key)) return false;
    actions[key]?.();
    return true;
  };
  const list = { active, chosen: `${turn} ${opened}`, onActive: goTo, onOpen: open, onFold: fold, onKey };
  return { list, close, revealNext, nextFailed, zoomed, zoom, revealCostliest };
}
