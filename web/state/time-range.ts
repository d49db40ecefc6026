import { clockOf, firstOf, instantOf, midnightOf, mondayOf } from "../format/local-time.ts";

/** The time that a view covers. */
export interface TimeRange {
  readonly fromMs: number;
  /** Undefined: now. */
  readonly toMs: number | undefined;
}

/** The same as members of a question. */
export function boundsOf({ fromMs, toMs }: TimeRange): { readonly start: string; readonly end?: string } {
  const start = new Date(fromMs).toISOString();
  return toMs === undefined ? { start } : { start, end: new Date(toMs).toISOString() };
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const SPANS_MS = {
  "1h": HOUR_MS,
  "6h": 6 * HOUR_MS,
  "24h": DAY_MS,
  "7d": 7 * DAY_MS,
  "30d": 30 * DAY_MS,
  "90d": 90 * DAY_MS,
} as const;
type Span = keyof typeof SPANS_MS;

/** Start of a calendar period relative to a local time: 0 is the current period, -1 the previous one. */
type Begin = (clock: number, periods: number) => number;
const PERIODS: Readonly<Record<string, readonly [begin: Begin, periods: number]>> = {
  today: [midnightOf, 0],
  yesterday: [midnightOf, -1],
  "this-week": [mondayOf, 0],
  "last-week": [mondayOf, -1],
  "this-month": [firstOf, 0],
  "last-month": [firstOf, -1],
};

/** The ranges that have names, as an address has them. */
export const RANGES = {
  today: "Today",
  yesterday: "Yesterday",
  "this-week": "This week",
  "last-week": "Last week",
  "this-month": "This month",
  "last-month": "Last month",
  "1h": "Last hour",
  "6h": "Last 6 hours",
  "24h": "Last 24 hours",
  "7d": "Last 7 days",
  "30d": "Last 30 days",
  "90d": "Last 90 days",
} as const;
export type Range = keyof typeof RANGES;
export const DEFAULT_RANGE: Range = "7d";

export function isRange(text: string | undefined): text is Range {
  return text !== undefined && Object.hasOwn(RANGES, text);
}

/** When somebody looks, and by which clock. */
export interface Looking {
  readonly now: number;
  readonly zone: string;
}

/** `7d`, `yesterday`, or `2026-11-01T00:00Z..2026-11-02T00:00Z`. Undefined: it is no window. */
export function readWindow(text: string | undefined, { now, zone }: Looking): TimeRange | undefined {
  const name = text === undefined || text === "" ? DEFAULT_RANGE : text;
  const period = Object.hasOwn(PERIODS, name) ? PERIODS[name] : undefined;
  if (period !== undefined) {
    const [begin, periods] = period;
    const clock = clockOf(now, zone);
    const fromMs = instantOf(begin(clock, periods), zone);
    return { fromMs, toMs: periods === 0 ? undefined : instantOf(begin(clock, periods + 1), zone) };
  }
  if (isSpan(name)) return { fromMs: now - SPANS_MS[name], toMs: undefined };
  const between = name.split("..");
  const [fromMs, toMs] = between.map((part) => Date.parse(part));
  if (between.length !== 2 || fromMs === undefined || toMs === undefined) return undefined;
  return fromMs < toMs ? { fromMs, toMs } : undefined;
}

function isSpan(name: string): name is Span {
  return Object.hasOwn(SPANS_MS, name);
}

export function printWindow({ fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }): string {
  return [fromMs, toMs].map((ms) => new Date(ms).toISOString()).join("..");
}

/** Comparison periods of a window, as in the URL. */
export const COMPARISONS = {
  "": "The period before",
  week: "A week earlier",
  month: "Four weeks earlier",
  none: "Nothing",
} as const;

/**
 * The window that another is compared with; undefined: none. A period that still runs is compared with as much of the
 * one before. A text that is a window stands for itself.
 */
export function comparedWith(
  window: TimeRange,
  { range, compare = "" }: { readonly range: string | undefined; readonly compare: string | undefined },
  { now, zone }: Looking,
): { readonly fromMs: number; readonly toMs: number } | undefined {
  if (compare === "none") return undefined;
  const end = window.toMs ?? now;
  const byClock = (ms: number, days: number): number => instantOf(clockOf(ms, zone) - days * DAY_MS, zone);
  if (compare === "week" || compare === "month") {
    const days = compare === "week" ? 7 : 28;
    return { fromMs: byClock(window.fromMs, days), toMs: byClock(end, days) };
  }
  if (compare.includes("..")) {
    const own = readWindow(compare, { now, zone });
    if (own?.toMs !== undefined) return { fromMs: own.fromMs, toMs: own.toMs };
  }
  const period = range !== undefined && Object.hasOwn(PERIODS, range) ? PERIODS[range] : undefined;
  if (period === undefined) return { fromMs: window.fromMs - (end - window.fromMs), toMs: window.fromMs };
  const [begin, periods] = period;
  const clock = clockOf(now, zone);
  const fromMs = instantOf(begin(clock, periods - 1), zone);
  // as much of the period before as has passed of this one, by the clock, and never more than it has
  const passed = clock - begin(clock, 0);
  const toMs = periods < 0 ? window.fromMs : instantOf(begin(clock, -1) + passed, zone);
  return { fromMs, toMs: Math.min(toMs, window.fromMs) };
}
