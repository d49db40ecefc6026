import { useEffect, useLayoutEffect, useRef } from "react";

export const ROW_PX = 28;

export interface RowKeys {
  at(index: number): string | undefined;
  /** -1: it is not there. */
  indexOf(key: string): number;
}

interface ScrollTarget {
  readonly active: number;
  readonly keys: RowKeys | undefined;
  /** Changes when a row is chosen. */
  readonly chosen: unknown;
}

/**
 * Where a list is scrolled to. A chosen row comes into sight; when rows come or go above those in sight, these stay
 * where they are.
 */
export function useScroll(
  scroller: { readonly current: HTMLElement | null },
  { active, keys, chosen }: ScrollTarget,
): void {
  const top = useRef({ key: "", overPx: 0 });
  useLayoutEffect(() => {
    const list = scroller.current;
    if (list === null || keys === undefined || list.scrollTop === 0) return;
    const index = keys.indexOf(top.current.key);
    const topPx = index * ROW_PX + top.current.overPx;
    if (index >= 0 && topPx !== list.scrollTop) list.scrollTop = topPx;
  }, [keys]);
  useLayoutEffect(() => {
    if (scroller.current !== null && active >= 0) bringIntoSight(scroller.current, active);
  }, [chosen]);
  useEffect(() => {
    const scrolledPx = scroller.current?.scrollTop ?? 0;
    const index = Math.floor(scrolledPx / ROW_PX);
    top.current = { key: keys?.at(index) ?? "", overPx: scrolledPx - index * ROW_PX };
  });
}

/** The list's head covers the first row's height. */
function bringIntoSight(list: HTMLElement, index: number): void {
  const [topPx, heightPx] = [index * ROW_PX, list.clientHeight - ROW_PX];
  const overPx = Math.max(list.scrollTop - topPx, topPx + ROW_PX - list.scrollTop - heightPx);
  if (overPx <= 0) return;
  // a step moves the list by it, a jump ends in the middle
  if (overPx > ROW_PX) list.scrollTop = topPx - (heightPx - ROW_PX) / 2;
  else list.scrollTop += topPx < list.scrollTop ? -overPx : overPx;
}
