import { describe, expect, it } from "vitest";
import { shareOfHour } from "../../bench/soak/hour.ts";
import { outcomeLines, textOf } from "../../bench/soak/report.ts";
import { runSoak } from "../../bench/soak/run.ts";
import { seededRandom } from "../helpers/seeded-random.ts";

const SECONDS = 60;
const random = seededRandom();

describe(`${SECONDS} s of an hour's mixed load (seed ${random.seed})`, () => {
  it("has correct responses, and everything acknowledged is stored once", async () => {
    const report = await runSoak(shareOfHour(SECONDS / 3600), random);
    const lines = outcomeLines(report);
    const failed = lines.filter((line) => !line.met);
    expect(failed, textOf(report, lines)).toEqual([]);
    expect(report.calls).toBeGreaterThan(20 * SECONDS);
  });
});
