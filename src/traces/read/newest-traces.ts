import type { TimeWindow } from "../../buckets/buckets.ts";
import { HOUR_MICROS } from "../../shared/instant.ts";
import type { Engine } from "../../store/engine.ts";
import type { TracesPlan } from "../plan/plan-traces.ts";
import { findTraces, type FoundTrace } from "./find-traces.ts";

/** Growth factor of the pieces of a window. */
const GROWTH = 4;

export interface Page {
  readonly direction: "asc" | "desc";
  /** Last trace of the previous page. */
  readonly after: Pick<FoundTrace, "startedAtUs" | "traceId"> | undefined;
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** Finds the latest or earliest traces of a plan in order, without reading the rest of the window. */
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

/** Divides a window, from its end or its start, into pieces of an hour, then four times as many each. */
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
