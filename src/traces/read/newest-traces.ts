import type { TimeWindow } from "../../buckets/buckets.ts";
import { HOUR_MICROS } from "../../shared/instant.ts";
import type { Engine } from "../../store/engine.ts";
import type { TracesPlan } from "../plan/plan-traces.ts";
import { findTraces, type FoundTrace } from "./find-traces.ts";

/** From one piece of a window to the next. */
const GROWTH = 4;

export interface Page {
  readonly direction: "asc" | "desc";
  /** The last trace before it. */
  readonly after: Pick<FoundTrace, "startedAtUs" | "traceId"> | undefined;
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** The traces of a plan that started last, or first, in that order, without reading the rest of the window. */
export async function findByStart(
  engine: Engine,
  plan: TracesPlan,
  { direction, after, limit, signal }: Page,
): Promise<FoundTrace[]> {
  const found: FoundTrace[] = [];
  for (const window of chunksOf(windowAfter(plan.window, direction, after), direction)) {
    const first = { direction, after, limit: limit - found.length };
    found.push(...(await findTraces(engine, plan, { window, first, signal })));
    if (found.length >= limit) break;
  }
  return found;
}

function windowAfter(window: TimeWindow, direction: Page["direction"], after: Page["after"]): TimeWindow {
  if (after === undefined) return window;
  return direction === "desc"
    ? { ...window, endUs: Math.min(window.endUs, after.startedAtUs + 1) }
    : { ...window, startUs: Math.max(window.startUs, after.startedAtUs) };
}

/** A window in pieces, from its end or its beginning: an hour, then each time four times as many. */
function* chunksOf({ startUs, endUs }: TimeWindow, direction: Page["direction"]): Generator<TimeWindow> {
  let [from, to] = [startUs, endUs];
  for (let size = HOUR_MICROS; from < to; size *= GROWTH) {
    const chunk =
      direction === "desc"
        ? { startUs: Math.max(from, to - size), endUs: to }
        : { startUs: from, endUs: Math.min(to, from + size) };
    yield chunk;
    if (direction === "desc") to = chunk.startUs;
    else from = chunk.endUs;
  }
}
