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

interface NamedRange {
  readonly label: string;
  /** Of a range that ends now. */
  readonly spanMs?: number;
  /** Of a calendar period: its start relative to a local time; 0 is the current period, -1 the previous one. */
  readonly begin?: (clock: number, periods: number) => number;
  readonly periods?: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The ranges that have names, as an address has them. */
export const RANGES: ReadonlyMap<string, NamedRange> = new Map(
  Object.entries({
    today: { label: "Today", begin: midnightOf },
    yesterday: { label: "Yesterday", begin: midnightOf, periods: -1 },
    "this-week": { label: "This week", begin: mondayOf },
    "last-week": { label: "Last week", begin: mondayOf, periods: -1 },
    "this-month": { label: "This month", begin: firstOf },
    "last-month": { label: "Last month", begin: firstOf, periods: -1 },
    "1h": { label: "Last hour", spanMs: HOUR_MS },
    "6h": { label: "Last 6 hours", spanMs: 6 * HOUR_MS },
    "24h": { label: "Last 24 hours", spanMs: DAY_MS },
    "7d": { label: "Last 7 days", spanMs: 7 * DAY_MS },
    "30d": { label: "Last 30 days", spanMs: 30 * DAY_MS },
    "90d": { label: "Last 90 days", spanMs: 90 * DAY_MS },
  }),
);
export const DEFAULT_RANGE = "7d";

/** When somebody looks, and by which clock. */
export interface Looking {
  readonly now: number;
  readonly zone: string;
}

/** `7d`, `yesterday`, or `2026-11-01T00:00Z..2026-11-02T00:00Z`. Undefined: it is no window. */
export function readWindow(text: string | undefined, { now, zone }: Looking): TimeRange | undefined {
  const name = text === undefined || text === "" ? DEFAULT_RANGE : text;
  const { begin, periods = 0, spanMs } = RANGES.get(name) ?? {};
  if (spanMs !== undefined) return { fromMs: now - spanMs, toMs: undefined };
  if (begin !== undefined) {
    const clock = clockOf(now, zone);
    const fromMs = instantOf(begin(clock, periods), zone);
    return { fromMs, toMs: periods === 0 ? undefined : instantOf(begin(clock, periods + 1), zone) };
  }
  const between = name.split("..");
  const [fromMs, toMs] = between.map((part) => Date.parse(part));
  if (between.length !== 2 || fromMs === undefined || toMs === undefined) return undefined;
  return fromMs < toMs ? { fromMs, toMs } : undefined;
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
  const { begin, periods = 0 } = RANGES.get(range ?? "") ?? {};
  if (begin === undefined) return { fromMs: window.fromMs - (end - window.fromMs), toMs: window.fromMs };
  const clock = clockOf(now, zone);
  const fromMs = instantOf(begin(clock, periods - 1), zone);
  // as much of the period before as has passed of this one, by the clock, and never more than it has
  const passed = clock - begin(clock, 0);
  const toMs = periods < 0 ? window.fromMs : instantOf(begin(clock, -1) + passed, zone);
  return { fromMs, toMs: Math.min(toMs, window.fromMs) };
}

/** The sizes of buckets, with their labels. */
export const INTERVALS = { auto: "Auto", hour: "Hour", day: "Day", week: "Week" } as const;
const SECONDS = { auto: undefined, hour: 3600, day: 86_400, week: 604_800 };
export type Interval = keyof typeof INTERVALS;

export function intervalOf(text: string | undefined): Interval {
  return text !== undefined && Object.hasOwn(INTERVALS, text) ? (text as Interval) : "auto";
}

/** Size of one bucket, however long the window is. */
export const ONE_BUCKET = 3_155_760_000;

/** The longest spans with buckets of a size, in seconds. */
const SPANS = [
  [2 * HOUR_MS, 300],
  [12 * HOUR_MS, 900],
  [2 * DAY_MS, 3600],
  [5 * DAY_MS, 10_800],
  [92 * DAY_MS, 86_400],
] as const;

/** Size of the buckets of a window, in seconds. A day has 24, not three. */
export function granularityOf({ fromMs, toMs = Date.now() }: TimeRange, interval: Interval): number {
  return SECONDS[interval] ?? SPANS.find(([spanMs]) => toMs - fromMs <= spanMs + HOUR_MS)?.[1] ?? 604_800;
}
