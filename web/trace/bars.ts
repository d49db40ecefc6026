import { formatDuration } from "../format/figure.ts";

/** A row of the waterfall. Times in ms. */
export interface Bar {
  readonly topPx: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly running: boolean;
  readonly failed: boolean;
  /** Share of the trace's cost, 0..1; undefined if unknown. */
  readonly share: number | undefined;
}

export interface Axis {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface BarColors {
  readonly bar: string;
  readonly cost: string;
  readonly error: string;
  readonly live: string;
  readonly text: string;
}

const ROW_PX = 28;
const MIN_BAR_PX = 2;
const LABEL_PX = 60;

/** The bar shows when a call ran; the height of its dark part shows its share of the trace's cost. */
export function drawBars(
  context: CanvasRenderingContext2D,
  bars: readonly Bar[],
  { widthPx, axis, colors }: { readonly widthPx: number; readonly axis: Axis; readonly colors: BarColors },
): void {
  const length = Math.max(1, axis.toMs - axis.fromMs);
  const scale = (widthPx - LABEL_PX) / length;
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  for (const bar of bars) {
    const left = (bar.startMs - axis.fromMs) * scale;
    const width = Math.max(MIN_BAR_PX, (bar.endMs - bar.startMs) * scale);
    const middle = bar.topPx + ROW_PX / 2;
    context.fillStyle = colors.bar;
    context.fillRect(left, middle - 5, width, 10);
    if (bar.share !== undefined && bar.share > 0) {
      const height = Math.max(1, bar.share * 10);
      context.fillStyle = colors.cost;
      context.fillRect(left, middle + 5 - height, width, height);
    }
    if (bar.failed) drawCross(context, left + width, middle, colors.error);
    if (bar.running) {
      context.fillStyle = colors.live;
      for (let x = left; x < left + width; x += 6) context.fillRect(x, middle - 7, 3, 2);
    }
    context.fillStyle = bar.running ? colors.live : colors.text;
    const label = bar.running ? "live" : formatDuration(bar.endMs - bar.startMs).text;
    context.fillText(label, left + width + (bar.failed ? 15 : 5), middle);
  }
}

function drawCross(context: CanvasRenderingContext2D, x: number, y: number, color: string): void {
  context.strokeStyle = color;
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(x + 2, y - 4);
  context.lineTo(x + 10, y + 4);
  context.moveTo(x + 10, y - 4);
  context.lineTo(x + 2, y + 4);
  context.stroke();
}
