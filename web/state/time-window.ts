/** The time that a view covers: the last hours or days, or from one instant to another. */
export interface TimeWindow {
  readonly fromMs: number;
  /** Undefined: now. */
  readonly toMs: number | undefined;
}

const HOUR_MS = 3_600_000;
export const SPANS = {
  "1h": { label: "last hour", ms: HOUR_MS },
  "24h": { label: "last 24 hours", ms: 24 * HOUR_MS },
  "7d": { label: "last 7 days", ms: 7 * 24 * HOUR_MS },
  "30d": { label: "last 30 days", ms: 30 * 24 * HOUR_MS },
  "90d": { label: "last 90 days", ms: 90 * 24 * HOUR_MS },
} as const;
type Span = keyof typeof SPANS;
export const DEFAULT_SPAN: Span = "7d";

/** `7d`, or `2026-11-01T00:00Z..2026-11-02T00:00Z`; what is neither is the default. */
export function readWindow(text: string | undefined, now: number): TimeWindow {
  const between = text?.split("..").map((part) => Date.parse(part)) ?? [];
  const [fromMs, toMs] = between;
  if (between.length === 2 && fromMs !== undefined && toMs !== undefined && fromMs < toMs)
    return { fromMs, toMs };
  const span = SPANS[isSpan(text) ? text : DEFAULT_SPAN];
  return { fromMs: now - span.ms, toMs: undefined };
}

export function isSpan(text: string | undefined): text is Span {
  return text !== undefined && Object.hasOwn(SPANS, text);
}

export function printWindow({ fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }): string {
  return [fromMs, toMs].map((ms) => new Date(ms).toISOString()).join("..");
}
