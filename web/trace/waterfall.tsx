import { useEffect, useLayoutEffect, useReducer, useRef } from "preact/hooks";
import { ROW_PX } from "../parts/row-list.tsx";
import { onTheme } from "../state/theme.ts";
import { drawBars, type Axis, type Bar } from "./bars.ts";

interface WaterfallProps {
  readonly bars: readonly Bar[];
  readonly axis: Axis;
  readonly offsetPx: number;
}

/** The bars of the rows that can be seen, on one canvas over their last column. */
export function Waterfall({ bars, axis, offsetPx }: WaterfallProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [, redraw] = useReducer((turn: number) => turn + 1, 0);
  useEffect(() => onTheme(() => redraw(undefined)), []);
  useLayoutEffect(() => {
    const element = canvas.current;
    const scroller = element?.closest<HTMLElement>(".rows");
    const column = scroller?.querySelector<HTMLElement>(".head .bars");
    const context = element?.getContext("2d");
    if (element == null || scroller == null || column == null || context == null) return;
    const [widthPx, heightPx] = [column.clientWidth, Math.max(0, scroller.clientHeight - ROW_PX)];
    const ratio = devicePixelRatio;
    element.style.left = `${column.offsetLeft}px`;
    element.style.width = `${widthPx}px`;
    element.style.height = `${heightPx}px`;
    if (element.width !== widthPx * ratio) element.width = widthPx * ratio;
    if (element.height !== heightPx * ratio) element.height = heightPx * ratio;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, widthPx, heightPx);
    const style = getComputedStyle(scroller);
    const color = (name: string): string => style.getPropertyValue(name);
    drawBars(
      context,
      bars.map((bar) => ({ ...bar, topPx: bar.topPx - offsetPx })),
      {
        widthPx,
        axis,
        colors: {
          bar: color("--bar"),
          cost: color("--accent"),
          error: color("--error"),
          live: color("--live"),
          text: color("--muted"),
        },
      },
    );
  });
  return (
    <div class="waterfall" aria-hidden="true">
      <canvas ref={canvas} />
    </div>
  );
}
