import { describe, expect, it } from "vitest";
import { bucketStarts, defaultSizeSeconds, planBuckets } from "../../../src/buckets/buckets.ts";
import { openZone } from "../../../src/buckets/zone.ts";

const HOUR = 3600;
const DAY = 24 * HOUR;

function windowOf(start: string, end: string) {
  return { startMs: Date.parse(start), endMs: Date.parse(end) };
}

function starts(zone: string, sizeSeconds: number, start: string, end: string): string[] {
  return bucketStarts(windowOf(start, end), sizeSeconds * 1000, openZone(zone)!).map((ms) =>
    new Date(ms).toISOString().slice(0, 19),
  );
}

describe("bucketStarts", () => {
  it("follows offsets with seconds", () => {
    expect(starts("Africa/Monrovia", DAY, "1972-01-06T12:00:00Z", "1972-01-08T12:00:00Z")).toEqual([
      "1972-01-06T00:44:30",
      "1972-01-07T00:44:30",
      "1972-01-08T00:00:00",
    ]);
  });

  it("supports times before 1970", () => {
    expect(starts("UTC", DAY, "1969-12-30T12:00:00Z", "1970-01-01T12:00:00Z")).toEqual([
      "1969-12-30T00:00:00",
      "1969-12-31T00:00:00",
      "1970-01-01T00:00:00",
    ]);
  });
});

describe("defaultSizeSeconds", () => {
  it.each([
    [2 * HOUR, 300],
    [2 * HOUR + 0.001, HOUR],
    [12 * HOUR, HOUR],
    [12 * HOUR + 0.001, 6 * HOUR],
    [3 * DAY, 6 * HOUR],
    [3 * DAY + 0.001, 12 * HOUR],
    [14 * DAY, 12 * HOUR],
    [14 * DAY + 0.001, DAY],
    [0, 300],
  ])("of %d s is %d s", (spanSeconds, size) => {
    expect(defaultSizeSeconds({ startUs: 0, endUs: spanSeconds * 1_000_000 })).toBe(size);
  });
});

describe("planBuckets", () => {
  const utc = openZone("UTC")!;
  const plan = (spanSeconds: number, size: number, startUs = 0) => {
    const window = { startUs, endUs: startUs + spanSeconds * 1_000_000 };
    const { sizeSeconds, startsUs } = planBuckets(window, size, utc);
    return [sizeSeconds, startsUs.length];
  };

  it("returns one bucket for a window within a millisecond, none for an empty one, and none that begins at its end", () => {
    const startsOf = (startUs: number, endUs: number) => planBuckets({ startUs, endUs }, 1, utc).startsUs;
    expect(startsOf(1_000_300, 1_000_301)).toEqual([1_000_000]);
    expect(startsOf(1_000_300, 1_000_300)).toEqual([]);
    expect(startsOf(999_999, 1_000_000)).toEqual([0]);
    expect(startsOf(999_999, 1_000_001)).toEqual([0, 1_000_000]);
  });

  it("keeps any size that yields 10,000 buckets", () => {
    expect(plan(10_000, 1)).toEqual([1, 10_000]);
    expect(plan(50_000_000, 5000)).toEqual([5000, 10_000]);
  });

  it("raises a size to the next round one for one bucket too many", () => {
    expect(plan(10_001, 1)).toEqual([2, 5001]);
    expect(plan(10_000, 1, 500_000)).toEqual([2, 5001]);
    expect(plan(50_005_000, 5000)).toEqual([2 * HOUR, 6946]);
    expect(plan(366 * DAY, 1)).toEqual([HOUR, 8784]);
    expect(plan(20_000 * DAY, HOUR)).toEqual([2 * DAY, 10_000]);
    expect(plan(20_001 * DAY, HOUR)).toEqual([3 * DAY, 6667]);
  });
});

describe("openZone", () => {
  it.each(["UTC", "Etc/GMT+5", "Asia/Calcutta", "america/new_york", "EST5EDT", "GB"])(
    "accepts %s",
    (name) => {
      expect(openZone(name)).toBeDefined();
    },
  );
  it.each([
    "",
    "Mars/Olympus",
    "+02:00",
    "-0500",
    "IST",
    "pst",
    "SystemV/PST8",
    "UTC+2",
    "../etc",
    "Europe/Berlin ",
  ])("rejects %j", (name) => {
    expect(openZone(name)).toBeUndefined();
  });
});
