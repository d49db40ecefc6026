import { isFlat, trendsOf } from "./flatness.ts";
import type { SoakReport } from "./run.ts";
import type { Sample } from "./sample.ts";

export interface Line {
  readonly what: string;
  readonly figure: string;
  readonly target: string;
  readonly met: boolean;
}

const MAX_KIB_PER_CALL = 4;
/** Overhead of a new part with few rows, in KiB. Each insert leaves some parts until they are merged. */
const KIB_PER_PART = 4;
const MAX_PARTS = 2000;
const SHOWN = 10;

/** Whether memory stayed flat. For runs that are long enough to have warmed up. */
export function flatnessLines({ samples }: SoakReport): readonly Line[] {
  return trendsOf(samples).map((trend) => ({
    what: `${trend.what}: third quarter → last quarter`,
    figure: `${trend.before.toFixed(0)} → ${trend.after.toFixed(0)}`,
    target: `≤ ${trend.limit.toFixed(0)}`,
    met: isFlat(trend),
  }));
}

/** Whether everything expected is there, and nothing else. */
export function outcomeLines(report: SoakReport): readonly Line[] {
  const { samples, calls, differences, wrongAnswers, droppedCompletions, exitCode } = report;
  const { parts, dataMiB } = samples.at(-1)!;
  return [
    atMost("parts on the disk at the end", parts, MAX_PARTS),
    atMost(
      `KiB on the disk per call, beside ${KIB_PER_PART} per part`,
      Number(((dataMiB * 1024 - parts * KIB_PER_PART) / calls).toFixed(2)),
      MAX_KIB_PER_CALL,
    ),
    atMost("calls and feedback lost, doubled or wrong at the end", differences.length, 0),
    atMost("wrong answers under load", wrongAnswers.length, 0),
    atMost("completions not recorded", droppedCompletions, 0),
    atMost("exit code", exitCode ?? Number.NaN, 0),
  ];
}

function atMost(what: string, figure: number, limit: number): Line {
  return { what, figure: String(figure), target: limit === 0 ? "0" : `≤ ${limit}`, met: figure <= limit };
}

export function textOf(report: SoakReport, lines: readonly Line[]): string {
  const { operations, elapsedMs, seed, calls, feedback, outcomes, differences, wrongAnswers } = report;
  const counts = [...outcomes].map(
    ([name, kinds]) =>
      `| ${name} | ${[...kinds].map(([outcome, count]) => `${count} × ${outcome}`).join(", ")} |`,
  );
  const rows = lines.map(
    ({ what, figure, target, met }) => `| ${what} | ${figure} | ${target} | ${met ? "met" : "**not met**"} |`,
  );
  return [
    ...[...wrongAnswers, ...differences].slice(0, SHOWN),
    "",
    "| operation | outcomes |",
    "|---|---|",
    ...counts,
    "",
    `${operations} operations in ${(elapsedMs / 1000).toFixed(0)} s, ${calls} calls and ${feedback} feedbacks acknowledged, seed ${seed}`,
    "",
    "| what | measured | target | |",
    "|---|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}

export function sampleText(sample: Sample, number: number): string {
  const figures = Object.entries(sample).map(([name, value]) => `${name} ${(value as number).toFixed(0)}`);
  return `${String(number).padStart(2)} ${figures.join("  ")}`;
}
