import { useMemo } from "react";
import type { UrlState } from "./url-state.ts";
import { comparedWith, readWindow, type TimeRange } from "./time-range.ts";

export interface Windows {
  readonly window: TimeRange;
  /** Comparison window; undefined for none. */
  readonly before: TimeRange | undefined;
}

/** The window that the address names, and what it is compared with; both stay as they are until `round` changes. */
export function useWindow({ options }: UrlState, zone: string, round: number): Windows {
  const { window: range, compare } = options;
  return useMemo(() => {
    const looking = { now: Date.now(), zone };
    // an unknown range is refused before a view is shown
    const window = readWindow(range, looking) ?? { fromMs: looking.now, toMs: looking.now };
    return { window, before: comparedWith(window, { range, compare }, looking) };
  }, [range, compare, zone, round]);
}
