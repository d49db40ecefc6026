import { bucketStarts, firstInstantAt, latestLocalMs, type TimeWindow } from "../buckets/buckets.ts";
import { assertNever } from "../shared/assert-never.ts";
import type { Zone } from "../buckets/zone.ts";
import type { Window } from "./budget.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Bounds of all instants that calls may have. */
export const EVER: TimeWindow = {
  startUs: Date.parse("1900-01-01T00:00:00Z") * 1000,
  endUs: Date.parse("2255-01-01T00:00:00Z") * 1000,
};
/** Longer than any hour and any day of a time zone. */
const MAX_HOURS = 3;
const MAX_DAYS = 3;

/** Returns the window of local time that an instant is in. Weeks begin on Monday. */
export function windowOf(window: Window | null, atMs: number, zone: Zone): TimeWindow {
  if (window === null) return EVER;
  const [startMs, endMs] = boundsOf(window, atMs, zone);
  return { startUs: startMs * 1000, endUs: endMs * 1000 };
}

function boundsOf(window: Window, atMs: number, zone: Zone): readonly [startMs: number, endMs: number] {
  switch (window) {
    case "hour":
      return bucketAt(atMs, { sizeMs: HOUR_MS, withinMs: MAX_HOURS * HOUR_MS }, zone);
    case "day":
      return bucketAt(atMs, { sizeMs: DAY_MS, withinMs: MAX_DAYS * DAY_MS }, zone);
    case "week": {
      const day = Math.floor(latestLocalMs(atMs, zone) / DAY_MS);
      // the first day of 1970 was a Thursday
      const monday = day - ((((day + 3) % 7) + 7) % 7);
      return [firstInstantAt(monday * DAY_MS, zone), firstInstantAt((monday + 7) * DAY_MS, zone)];
    }
    case "month": {
      const local = new Date(latestLocalMs(atMs, zone));
      const [year, month] = [local.getUTCFullYear(), local.getUTCMonth()];
      return [
        firstInstantAt(Date.UTC(year, month, 1), zone),
        firstInstantAt(Date.UTC(year, month + 1, 1), zone),
      ];
    }
    default:
      return assertNever(window);
  }
}

function bucketAt(
  atMs: number,
  { sizeMs, withinMs }: { readonly sizeMs: number; readonly withinMs: number },
  zone: Zone,
): readonly [startMs: number, endMs: number] {
  const [start, end] = bucketStarts({ startMs: atMs, endMs: atMs + withinMs }, sizeMs, zone);
  return [start!, end!];
}
