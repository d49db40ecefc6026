import { useEffect, useRef, useState, type MouseEvent, type PointerEvent } from "react";

const LEAST_PX = 6;

/** Dragging over buckets, which Escape cancels. A click that ends it opens nothing. */
export function useDrag(
  bucketOf: (clientX: number) => number,
  onRange: (first: number, last: number) => void,
) {
  const began = useRef<{ readonly xPx: number; readonly bucket: number } | undefined>(undefined);
  const wasDragged = useRef(false);
  const [range, setRange] = useState<readonly [first: number, last: number]>();
  const stop = (): void => {
    began.current = undefined;
    setRange(undefined);
  };
  const isDragging = range !== undefined;
  useEffect(() => {
    if (!isDragging) return;
    const cancel = (event: KeyboardEvent): void => {
      if (event.key === "Escape") stop();
    };
    addEventListener("keydown", cancel);
    return () => removeEventListener("keydown", cancel);
  }, [isDragging]);
  return {
    range,
    handlers: {
      onPointerDown({ button, clientX }: PointerEvent): void {
        wasDragged.current = false;
        began.current = button === 0 ? { xPx: clientX, bucket: bucketOf(clientX) } : undefined;
      },
      onPointerMove({ clientX, currentTarget, pointerId }: PointerEvent): void {
        if (began.current === undefined) return;
        const { xPx, bucket } = began.current;
        if (!wasDragged.current && Math.abs(clientX - xPx) < LEAST_PX) return;
        wasDragged.current = true;
        currentTarget.setPointerCapture(pointerId);
        const here = bucketOf(clientX);
        setRange([Math.min(bucket, here), Math.max(bucket, here)]);
      },
      onPointerUp(): void {
        if (range !== undefined) onRange(...range);
        stop();
      },
      onPointerCancel: stop,
      onClickCapture(event: MouseEvent): void {
        // Enter on a link is a click too, of detail 0
        if (!wasDragged.current || event.detail === 0) return;
        event.preventDefault();
        event.stopPropagation();
      },
      // links would be dragged themselves
      onDragStart: (event: MouseEvent) => event.preventDefault(),
    },
  };
}
