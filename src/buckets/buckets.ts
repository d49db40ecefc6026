import { MAX_OFFSET_MS, type OffsetSpan, type Zone } from "./zone.ts";

/** Half-open interval [startUs, endUs) in microseconds since the epoch. */
export interface TimeWindow {
  readonly startUs: number;
  readonly endUs: number;
}

export interface Buckets {
  readonly sizeSeconds: number;
  /** Bucket starts, ascending: from the bucket of the window's start to the last one before its end. */
  readonly startsUs: readonly number[];
}

export const MAX_BUCKETS = 10_000;

const MINUTE_S = 60;
const HOUR_S = 3600;
const DAY_S = 86_400;
const DAY_MS = DAY_S * 1000;

/** Round bucket sizes below a day. */
const ROUND_SIZES_S = [
  [1, 2, 5, 10, 15, 20, 30],
  [1, 2, 5, 10, 15, 20, 30].map((minutes) => minutes * MINUTE_S),
  [1, 2, 3, 4, 6, 8, 12].map((hours) => hours * HOUR_S),
].flat();

/** Returns the default bucket size of a window. */
export function defaultSizeSeconds(window: TimeWindow): number {
  const spanS = secondsOf(window);
  if (spanS <= 2 * HOUR_S) return 5 * MINUTE_S;
  if (spanS <= 12 * HOUR_S) return HOUR_S;
  if (spanS <= 3 * DAY_S) return 6 * HOUR_S;
  if (spanS <= 14 * DAY_S) return 12 * HOUR_S;
  return DAY_S;
}

/**
 * Divides a window into buckets of local time. If the requested size makes more than `MAX_BUCKETS`, the next round size that
 * does not is used. Cost: one offset lookup per day of the window, at most four per bucket.
 */
export function planBuckets(window: TimeWindow, wantedSeconds: number, zone: Zone): Buckets {
  for (const sizeSeconds of sizesFrom(wantedSeconds, window)) {
    const starts = bucketStarts(inMs(window), sizeSeconds * 1000, zone);
    if (starts.length <= MAX_BUCKETS) return { sizeSeconds, startsUs: starts.map((ms) => ms * 1000) };
  }
  throw new Error("unreachable: the sizes never end");
}

function secondsOf({ startUs, endUs }: TimeWindow): number {
  return (endUs - startUs) / 1_000_000;
}

interface WindowMs {
  readonly startMs: number;
  readonly endMs: number;
}

/** Rounds a window to whole seconds; it has the same buckets, because offsets change at whole seconds. */
function inMs({ startUs, endUs }: TimeWindow): WindowMs {
  const startMs = Math.floor(startUs / 1000);
  return { startMs, endMs: startUs < endUs ? Math.ceil(endUs / 1000) : startMs };
}

/** Yields the requested size, then larger round ones, except those that certainly make too many buckets. */
function* sizesFrom(wantedSeconds: number, window: TimeWindow): Generator<number> {
  const leastSeconds = secondsOf(window) / MAX_BUCKETS;
  if (wantedSeconds >= leastSeconds) yield wantedSeconds;
  for (const size of ROUND_SIZES_S) if (size > wantedSeconds && size >= leastSeconds) yield size;
  const firstDay = Math.max(Math.floor(wantedSeconds / DAY_S) + 1, Math.ceil(leastSeconds / DAY_S));
  for (let days = firstDay; ; days++) yield days * DAY_S;
}

/**
 * Returns the bucket starts of a window. If all offsets around the window are congruent modulo the size, buckets are equally
 * long: an hour that the clock repeats is two buckets. Otherwise bucket k starts at the first instant at which local time is
 * at least k sizes since 1970-01-01T00:00: a day lasts from midnight to midnight, and skipped buckets do not exist.
 */
export function bucketStarts(window: WindowMs, sizeMs: number, zone: Zone): number[] {
  const { startMs, endMs } = window;
  if (startMs >= endMs) return [];
  // Two offsets of a zone are never further apart than this: there is nothing to compare for larger sizes.
  if (sizeMs > 2 * MAX_OFFSET_MS) {
    return wallClockStarts(window, sizeMs, zone, (localMs) =>
      zone.spans(localMs - MAX_OFFSET_MS, localMs + MAX_OFFSET_MS),
    );
  }
  const spans = [...zone.spans(startMs - sizeMs - 2 * MAX_OFFSET_MS, endMs)];
  const near = spans.filter((span) => span.toMs > startMs - sizeMs - DAY_MS);
  const rests = new Set(near.map((span) => modulo(span.offsetMs, sizeMs)));
  if (rests.size > 1) return wallClockStarts(window, sizeMs, zone, () => spans);
  const starts: number[] = [];
  const firstMs = startMs - modulo(startMs + near[0]!.offsetMs, sizeMs);
  for (let at = firstMs; at < endMs; at += sizeMs) starts.push(at);
  return starts;
}

function wallClockStarts(
  window: WindowMs,
  sizeMs: number,
  zone: Zone,
  spansNear: (localMs: number) => Iterable<OffsetSpan>,
): number[] {
  const starts: number[] = [];
  for (let k = Math.floor(latestLocalMs(window.startMs, zone) / sizeMs); ; k++) {
    const at = firstInstantIn(k * sizeMs, spansNear(k * sizeMs));
    if (at === undefined || at >= window.endMs) return starts;
    if (at !== starts.at(-1)) starts.push(at);
  }
}

/** Returns the latest local time shown up to an instant; before a clock went back it was later. */
export function latestLocalMs(atMs: number, zone: Zone): number {
  let latest = -Infinity;
  for (const span of zone.spans(atMs - 2 * MAX_OFFSET_MS, atMs + 1)) {
    latest = Math.max(latest, span.toMs - 1 + span.offsetMs);
  }
  return latest;
}

/** Returns the first instant with a local time of at least `localMs`. */
export function firstInstantAt(localMs: number, zone: Zone): number {
  return firstInstantIn(localMs, zone.spans(localMs - MAX_OFFSET_MS, localMs + 2 * MAX_OFFSET_MS))!;
}

/** Returns the first instant of the spans with a local time of at least `localMs`. */
function firstInstantIn(localMs: number, spans: Iterable<OffsetSpan>): number | undefined {
  for (const span of spans) {
    const at = Math.max(span.fromMs, localMs - span.offsetMs);
    if (at < span.toMs) return at;
  }
  return undefined;
}

function modulo(value: number, size: number): number {
  return ((value % size) + size) % size;
}
