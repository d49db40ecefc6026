import { seededRandom } from "../test/helpers/seeded-random.ts";
import { shareOfHour } from "./soak/hour.ts";
import { flatnessLines, outcomeLines, sampleText, textOf } from "./soak/report.ts";
import { runSoak } from "./soak/run.ts";

/** An hour's load, or with SHARE a part of it, as fast as the service answers. */
const share = Number(process.env["SHARE"] ?? 1);
const random = seededRandom();
console.log(`${share} of an hour's load, seed ${random.seed}`);
const report = await runSoak(shareOfHour(share), random, (sample, number) =>
  console.log(sampleText(sample, number)),
);
const lines = [...flatnessLines(report), ...outcomeLines(report)];
console.log(textOf(report, lines));
process.exitCode = lines.every((line) => line.met) ? 0 : 1;
