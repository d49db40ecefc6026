import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualItem,
} from "@tanstack/virtual-core";
import { useEffect, useLayoutEffect, useReducer, useState } from "preact/hooks";

export interface VirtualRows {
  readonly items: readonly VirtualItem[];
  readonly totalPx: number;
  readonly offsetPx: number;
}

/** Which of many rows of one height have to be in the document. */
export function useVirtualRows(
  scroller: { readonly current: HTMLElement | null },
  { count, rowPx }: { readonly count: number; readonly rowPx: number },
): VirtualRows {
  const [, redraw] = useReducer((turn: number) => turn + 1, 0);
  const options = {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    overscan: 4,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange: () => redraw(undefined),
  };
  const [virtualizer] = useState(() => new Virtualizer<HTMLElement, HTMLElement>(options));
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  useEffect(() => virtualizer.measure(), [virtualizer, rowPx, count]);
  return {
    items: virtualizer.getVirtualItems(),
    totalPx: virtualizer.getTotalSize(),
    offsetPx: virtualizer.scrollOffset ?? 0,
  };
}
