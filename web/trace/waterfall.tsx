import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { ROW_PX } from "../components/row-list.tsx";
import { onTheme } from "../state/theme.ts";
import { drawBars, type Axis, type Bar, type BarColors } from "./bars.ts";

interface WaterfallProps {
  readonly bars: readonly Bar[];
  readonly axis: Axis;
  readonly offsetPx: number;
}

/** The bars of the visible rows, on one canvas over their last column. */
export function Waterfall({ bars, axis, offsetPx }: WaterfallProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const column = useColumn(canvas);
  useLayoutEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (context == null || column === undefined) return;
    const { widthPx, heightPx, colors } = column;
    const ratio = devicePixelRatio;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, widthPx, heightPx);
    const placed = bars.map((bar) => ({ ...bar, topPx: bar.topPx - offsetPx }));
    drawBars(context, placed, { widthPx, axis, colors });
  });
  return (
    <div className="waterfall" aria-hidden="true">
      <canvas
        ref={canvas}
        width={(column?.widthPx ?? 0) * devicePixelRatio}
        height={(column?.heightPx ?? 0) * devicePixelRatio}
        style={{
          left: `${column?.leftPx ?? 0}px`,
          width: `${column?.widthPx ?? 0}px`,
          height: `${column?.heightPx ?? 0}px`,
        }}
      />
    </div>
  );
}

/** Positions and colours of the bars. */
interface Column {
  readonly leftPx: number;
  readonly widthPx: number;
  readonly heightPx: number;
  readonly colors: BarColors;
}

/** Measured when it changes, not on scrolling, because measuring forces a layout. */
function useColumn(canvas: { readonly current: HTMLElement | null }): Column | undefined {
  const [column, setColumn] = useState<Column>();
  useEffect(() => {
    const scroller = canvas.current?.closest<HTMLElement>(".rows");
    const head = scroller?.querySelector<HTMLElement>(".head .bars");
    if (scroller == null || head == null) return;
    const measure = (): void => setColumn(columnOf(scroller, head));
    const resize = new ResizeObserver(measure);
    for (const element of [scroller, head]) resize.observe(element);
    const stop = onTheme(measure);
    return () => {
      resize.disconnect();
      stop();
    };
  }, []);
  return column;
}

function columnOf(scroller: HTMLElement, head: HTMLElement): Column {
  const style = getComputedStyle(scroller);
  const color = (name: string): string => style.getPropertyValue(name);
  return {
    leftPx: head.offsetLeft,
    widthPx: head.clientWidth,
    heightPx: Math.max(0, scroller.clientHeight - ROW_PX),
    colors: {
      bar: color("--bar"),
      cost: color("--accent"),
      error: color("--error"),
      live: color("--live"),
      text: color("--muted"),
    },
  };
}
