import { cpus, totalmem } from "node:os";
import type { ScenarioResult, Spread } from "./scenario.ts";

export const TABLE_HEAD = `| scenario | what | median (min–max) | against | median (min–max) | ratio | target | |
|---|---|---|---|---|---|---|---|`;

export function rowOf(name: string, { what, subject, against, unit, target }: ScenarioResult): string {
  const cells = [
    name,
    what,
    textOf(subject, unit),
    against?.what ?? "",
    against === undefined ? "" : textOf(against.spread, unit),
    against === undefined ? "" : (subject.median / against.spread.median).toFixed(2),
    target?.text ?? "",
    target === undefined ? "" : target.met ? "met" : "**not met**",
  ];
  return `| ${cells.join(" | ")} |`;
}

/** The page of the figures that have a target; the run prints the others too. */
export function pageOf(
  results: readonly (readonly [name: string, ScenarioResult])[],
  run: { minutes: number; engineVersion: string },
): string {
  const rows = results.flatMap(([name, result]) =>
    result.target === undefined ? [] : [rowOf(name, result)],
  );
  return `# Benchmarks

Written by \`npm run bench\`, which took ${run.minutes.toFixed(1)} minutes on ${machine()}, Node ${process.version}, embedded ClickHouse ${run.engineVersion}.
\`npm run bench -- NAME\` runs one scenario; figures without a target are printed only. Both sides of a ratio are measured in turn in the same run; a ratio is one
of medians. Clients are separate processes on the same machine. Absolute times hold for this machine only.

${TABLE_HEAD}
${rows.join("\n")}
`;
}

function machine(): string {
  const cpu = cpus();
  return `${cpu.length} × ${cpu[0]?.model ?? "unknown processor"}, ${Math.round(totalmem() / 2 ** 30)} GiB`;
}

function textOf({ median, min, max }: Spread, unit: string): string {
  const digits = median < 10 ? 2 : median < 100 ? 1 : 0;
  return `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)}) ${unit}`;
}
