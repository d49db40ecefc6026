import * as fc from "fast-check";
import { Temporal } from "temporal-polyfill";
import { describe, expect, it } from "vitest";
import { bucketStarts, MAX_BUCKETS, planBuckets } from "../../src/buckets/buckets.ts";
import { openZone } from "../../src/buckets/zone.ts";
import { runs } from "../helpers/runs.ts";
import { chosenSeed } from "../helpers/seeded-random.ts";
import { wallClock, zoneNames } from "../models/zones.ts";

/** Windows per property, and zones whose every day of 1970–2100 is looked at. A long run takes all zones. */
const RUNS = runs(25, 300);
const ZONES = runs(2, 20);

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const FROM = Date.UTC(1970, 0, 1);
const TO = Date.UTC(2101, 0, 1);

const names = zoneNames();
const zone = fc.constantFrom(...names);
const minutesOfSizes = [
  1, 5, 7, 15, 20, 30, 45, 60, 90, 120, 180, 360, 480, 500, 720, 1440, 2000, 2880, 4320,
];
const size = fc.constantFrom(...minutesOfSizes).map((minutes) => minutes * MINUTE);
const instant = fc.integer({ min: FROM / MINUTE, max: TO / MINUTE }).map((minute) => minute * MINUTE);

/** An instant so long before the zone's next change of offset, or the instant itself when there is none. */
function nearChange(name: string, ms: number, beforeMs: number): number {
  const here = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(name);
  const change = here.getTimeZoneTransition("next")?.epochMilliseconds;
  return change === undefined || change >= TO - DAY ? ms : change - beforeMs;
}

const scene = fc
  .record({
    name: zone,
    ms: instant,
    sizeMs: size,
    beforeMs: fc
      .oneof(fc.integer({ min: -180, max: 0 }), fc.integer({ min: 0, max: 3 * 24 * 60 }))
      .map((minutes) => minutes * MINUTE),
    spanMs: fc.integer({ min: 1, max: 4 * 24 * 60 }).map((minutes) => minutes * MINUTE),
    atChange: fc.boolean(),
  })
  .map(({ name, ms, sizeMs, beforeMs, spanMs, atChange }) => {
    const startMs = atChange ? nearChange(name, ms, beforeMs) : ms;
    return { name, sizeMs, window: { startMs, endMs: startMs + spanMs } };
  });

/** The rule, word by word: the clock is read every minute. Undefined where it shows seconds. */
function walk(
  name: string,
  sizeMs: number,
  { startMs, endMs }: Parameters<typeof bucketStarts>[0],
): number[] | undefined {
  const clock = wallClock(name);
  const offsets = new Set<number>();
  const starts: number[] = [];
  let reached = -Infinity;
  for (let at = startMs - sizeMs - 4 * DAY; at < endMs; at += MINUTE) {
    const local = clock(at);
    if (at >= startMs - sizeMs - DAY) offsets.add(local - at);
    if (Math.floor(local / sizeMs) > Math.floor(reached / sizeMs)) starts.push(at);
    reached = Math.max(reached, local);
  }
  if ([...offsets].some((offset) => offset % MINUTE !== 0)) return undefined;
  const rests = new Set([...offsets].map((offset) => ((offset % sizeMs) + sizeMs) % sizeMs));
  if (rests.size > 1) return starts.slice(starts.findLastIndex((at) => at <= startMs));
  const [rest] = rests;
  const uniform: number[] = [];
  for (let k = Math.floor((startMs + rest!) / sizeMs); k * sizeMs - rest! < endMs; k++) {
    uniform.push(k * sizeMs - rest!);
  }
  return uniform;
}

describe("buckets by local time of any zone", () => {
  it("equal those of a walk along the wall clock", () => {
    fc.assert(
      fc.property(scene, ({ name, sizeMs, window }) => {
        const expected = walk(name, sizeMs, window);
        fc.pre(expected !== undefined);
        expect(bucketStarts(window, sizeMs, openZone(name)!)).toEqual(expected);
      }),
      { numRuns: RUNS },
    );
  });

  it("ascend, cover the window and contain every instant once, for any size", () => {
    const anySize = fc.oneof(
      size,
      fc.integer({ min: 1, max: 40 * 86_400 }).map((seconds) => seconds * 1000),
    );
    fc.assert(
      fc.property(
        zone,
        instant,
        anySize,
        fc.integer({ min: 1, max: 3000 }),
        (name, startMs, sizeMs, buckets) => {
          const window = { startUs: startMs * 1000, endUs: (startMs + sizeMs * buckets) * 1000 };
          const plan = planBuckets(window, sizeMs / 1000, openZone(name)!);
          const starts = plan.startsUs.map((us) => us / 1000);
          expect(starts.length).toBeLessThanOrEqual(MAX_BUCKETS);
          expect(starts[0]).toBeLessThanOrEqual(startMs);
          expect(starts[1] ?? Infinity).toBeGreaterThan(startMs);
          expect(plan.startsUs.at(-1)).toBeLessThan(window.endUs);
          // strictly rising: then each instant is in exactly one
          for (let k = 1; k < starts.length; k++) {
            if (starts[k]! <= starts[k - 1]!)
              throw new Error(`bucket ${k} does not start after the one before`);
            // none is missing: no bucket is longer than its size and the largest jump of a clock
            if (starts[k]! - starts[k - 1]! > plan.sizeSeconds * 1000 + DAY)
              throw new Error(`bucket ${k} is late`);
          }
        },
      ),
      { numRuns: RUNS },
    );
  });

  it("of a day start at its first instant, every day of 1970 to 2100", () => {
    const seed = chosenSeed();
    const chosen = fc.sample(fc.shuffledSubarray([...names], { minLength: Math.min(ZONES, names.length) }), {
      numRuns: 1,
      seed,
    })[0]!;
    for (const name of chosen.slice(0, ZONES)) {
      const clock = wallClock(name);
      const starts = bucketStarts({ startMs: FROM, endMs: TO }, DAY, openZone(name)!);
      let dayBefore = -Infinity;
      for (const at of starts) {
        const day = Math.floor(clock(at) / DAY);
        const instantBefore = Math.floor(clock(at - 1) / DAY);
        // the instant before is in an earlier day, and so was everything before it
        if (day <= dayBefore || instantBefore >= day) {
          throw new Error(`${name}, seed ${seed}: ${new Date(at).toISOString()} does not begin a day`);
        }
        dayBefore = day;
      }
      const shown = new Set(starts.map((at) => Math.floor(clock(at) / DAY)));
      const skipped = [];
      for (let day = Math.floor(clock(FROM) / DAY); day < Math.floor(clock(TO - 1) / DAY); day++) {
        if (!shown.has(day)) skipped.push(day);
      }
      // a clock that jumps over a day has shown no instant of it
      for (const day of skipped) {
        const noon = Temporal.PlainDateTime.from("1970-01-01T12:00").add({ days: day });
        const read = noon.toZonedDateTime(name).toPlainDateTime();
        if (read.equals(noon))
          throw new Error(`${name}, seed ${seed}: ${noon.toString()} is in no bucket of its day`);
      }
    }
  });

  it("of a day equal those of Temporal", () => {
    fc.assert(
      fc.property(zone, instant, fc.boolean(), (name, ms, atChange) => {
        const at = atChange ? nearChange(name, ms, 0) : ms;
        const starts = bucketStarts({ startMs: at - DAY, endMs: at + 2 * DAY }, DAY, openZone(name)!);
        const day = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(name).toPlainDate();
        const start = day.toZonedDateTime(name).epochMilliseconds;
        expect(starts).toContain(start);
      }),
      { numRuns: RUNS * 3 },
    );
  });
});
