import { useVirtualizer, type VirtualItem } from "@tanstack/react-virtual";

export interface VirtualRows {
  readonly items: readonly VirtualItem[];
  readonly totalPx: number;
}

/** Which of many rows of one height have to be in the document. */
export function useVirtualRows(
  scroller: { readonly current: HTMLElement | null },
  { count, rowPx }: { readonly count: number; readonly rowPx: number },
): VirtualRows {
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    overscan: 4,
  });
  return {
    items: virtualizer.getVirtualItems(),
    totalPx: virtualizer.getTotalSize(),
  };
}
