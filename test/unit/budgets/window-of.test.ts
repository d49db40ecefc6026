import { describe, expect, it } from "vitest";
import { openZone } from "../../../src/buckets/zone.ts";
import { EVER, windowOf } from "../../../src/budgets/window-of.ts";
import type { Window } from "../../../src/budgets/budget.ts";
import { chosenSeed } from "../../helpers/seeded-random.ts";

const isoOf = (us: number): string => new Date(us / 1000).toISOString().replace(":00.000Z", "Z");
const at = (window: Window, zone: string, instant: string): string[] => {
  const { startUs, endUs } = windowOf(window, Date.parse(instant), openZone(zone)!);
  return [isoOf(startUs), isoOf(endUs)];
};

describe("the window of a budget", () => {
  it.each<[Window, string, string, string, string]>([
    ["month", "Asia/Tokyo", "2026-10-31T14:59:59.999Z", "2026-09-30T15:00Z", "2026-10-31T15:00Z"],
    ["month", "Asia/Tokyo", "2026-10-31T15:00:00Z", "2026-10-31T15:00Z", "2026-11-30T15:00Z"],
    ["month", "Europe/Berlin", "2026-10-10T00:00:00Z", "2026-09-30T22:00Z", "2026-10-31T23:00Z"],
    // days of 25 and of 23 hours
    ["day", "Europe/Berlin", "2026-10-25T12:00:00Z", "2026-10-24T22:00Z", "2026-10-25T23:00Z"],
    ["day", "America/New_York", "2026-03-08T12:00:00Z", "2026-03-08T05:00Z", "2026-03-09T04:00Z"],
    // midnight is skipped
    ["day", "Africa/Cairo", "2026-04-24T12:00:00Z", "2026-04-23T22:00Z", "2026-04-24T21:00Z"],
    // weeks begin on Monday
    ["week", "UTC", "2026-11-29T23:59:59Z", "2026-11-23T00:00Z", "2026-11-30T00:00Z"],
    ["week", "UTC", "2026-11-30T00:00:00Z", "2026-11-30T00:00Z", "2026-12-07T00:00Z"],
    ["week", "Europe/Berlin", "2026-10-25T12:00:00Z", "2026-10-18T22:00Z", "2026-10-25T23:00Z"],
    // the clock repeats an hour, and half an hour
    ["hour", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-25T00:00Z", "2026-10-25T01:00Z"],
    ["hour", "Europe/Berlin", "2026-10-25T01:30:00Z", "2026-10-25T01:00Z", "2026-10-25T02:00Z"],
    ["hour", "Asia/Kolkata", "2026-10-25T01:15:00Z", "2026-10-25T00:30Z", "2026-10-25T01:30Z"],
    // a zone without 2011-12-30
    ["month", "Pacific/Apia", "2011-12-31T08:00:00Z", "2011-12-01T10:00Z", "2011-12-31T10:00Z"],
    ["week", "Pacific/Apia", "2011-12-31T08:00:00Z", "2011-12-26T10:00Z", "2012-01-01T10:00Z"],
  ])("%s in %s at %s", (window, zone, instant, ...bounds) => {
    expect(at(window, zone, instant)).toEqual(bounds);
  });

  it("is all of time without a window", () => {
    expect(windowOf(null, Date.now(), openZone("UTC")!)).toBe(EVER);
  });

  it("has every instant, and its neighbours begin where it ends", () => {
    const zones = ["UTC", "Europe/Berlin", "Australia/Lord_Howe", "America/St_Johns", "Pacific/Apia"];
    const random = chosenSeed() % 1000;
    for (const name of zones)
      for (const window of ["hour", "day", "week", "month"] as const)
        for (let step = 0; step < 60; step++) {
          const zone = openZone(name)!;
          const atMs = Date.parse("2026-01-01T00:00:00Z") + (random + step * 6 * 24 + 1) * 3_600_000 + 1;
          const { startUs, endUs } = windowOf(window, atMs, zone);
          expect(startUs <= atMs * 1000 && atMs * 1000 < endUs, `${window} ${name} ${atMs}`).toBe(true);
          expect(windowOf(window, endUs / 1000, zone).startUs).toBe(endUs);
          expect(windowOf(window, endUs / 1000 - 1, zone)).toEqual({ startUs, endUs });
        }
  });
});
