const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Before the second and later attempts. Source: Standard Webhooks. */
const PAUSES_MS = [
  5 * SECOND_MS,
  ...[5, 30].map((minutes) => minutes * MINUTE_MS),
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS),
];
const JITTER = 0.1;

/**
 * Returns the pause after so many failed attempts; `undefined` after the last. A receiver can make it longer, up to a day,
 * but not shorter, which would use up the attempts.
 */
export function pauseMs(attempts: number, askedMs: number): number | undefined {
  const scheduledMs = PAUSES_MS[attempts - 1];
  if (scheduledMs === undefined) return undefined;
  return Math.max(scheduledMs, Math.min(askedMs, DAY_MS)) * (1 + JITTER * Math.random());
}

/** Reads a `retry-after` of seconds or a date, in milliseconds; 0 if there is none. */
export function retryAfterMs(header: string | null, nowMs: number): number {
  const ms = /^\d+$/.test(header ?? "") ? Number(header) * SECOND_MS : Date.parse(header ?? "") - nowMs;
  return Number.isNaN(ms) ? 0 : ms;
}
