import { describe, expect, it } from "vitest";
import { isFlat, trendsOf } from "../../bench/soak/flatness.ts";
import { shareOfHour } from "../../bench/soak/hour.ts";
import { outcomeLines, textOf } from "../../bench/soak/report.ts";
import { runSoak } from "../../bench/soak/run.ts";
import type { Sample } from "../../bench/soak/sample.ts";
import { seededRandom } from "../helpers/seeded-random.ts";

const SECONDS = 60;
const random = seededRandom();

describe(`${SECONDS} s of an hour's mixed load (seed ${random.seed})`, () => {
  it("is answered rightly, and all that was acknowledged is there once", async () => {
    const report = await runSoak(shareOfHour(SECONDS / 3600), random);
    const lines = outcomeLines(report);
    const failed = lines.filter((line) => !line.met);
    expect(failed, textOf(report, lines)).toEqual([]);
    expect(report.calls).toBeGreaterThan(20 * SECONDS);
  });
});

/** Sixty samples, of which only one figure changes. */
function samplesWhere(figure: keyof Sample, valueAt: (minute: number) => number): Sample[] {
  const steady = { residentMiB: 800, heapMiB: 60, externalMiB: 20, openFiles: 500, parts: 500, dataMiB: 100 };
  return Array.from({ length: 60 }, (_, minute) => ({ ...steady, [figure]: valueAt(minute) }));
}

const bent = (samples: readonly Sample[]) => trendsOf(samples).filter((trend) => !isFlat(trend)).length;

describe("memory", () => {
  it.each([
    ["residentMiB", (minute: number) => 700 + 8 * minute],
    ["heapMiB", (minute: number) => 50 + (minute % 5) + minute / 2],
    ["externalMiB", (minute: number) => 10 + (minute % 5) + minute],
    ["openFiles", (minute: number) => 400 + 10 * minute],
  ] as const)("is not called flat when %s grows", (figure, valueAt) => {
    expect(bent(samplesWhere(figure, valueAt))).toBe(1);
  });

  it.each([
    ["residentMiB", (minute: number) => Math.min(800, 400 + 20 * minute)],
    ["heapMiB", (minute: number) => 50 + (minute % 4)],
  ] as const)("is called flat when %s has grown at first, or goes up and down", (figure, valueAt) => {
    expect(bent(samplesWhere(figure, valueAt))).toBe(0);
  });
});
