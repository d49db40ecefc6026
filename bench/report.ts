import { cpus, totalmem } from "node:os";
import type { ScenarioResult, Spread, Target } from "./scenario.ts";

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
    target === undefined ? "" : target.used <= 1 ? "met" : "**not met**",
  ];
  return `| ${cells.join(" | ")} |`;
}

/**
 * The page: of the figures with one comparison and target, those that miss it and the closest other. The run prints
 * all of them.
 */
export function pageOf(
  results: readonly (readonly [name: string, ScenarioResult])[],
  run: { minutes: number; engineVersion: string },
): string {
  const judged = results.flatMap(([name, result]) =>
    result.target === undefined ? [] : [{ ...result, name, target: result.target }],
  );
  const alike = Map.groupBy(judged, ({ name, against, target }) =>
    [name, against?.what, target.text.replace(/ \(.*/, "")].join("|"),
  );
  const closest = new Set(
    [...alike.values()].flatMap((group) => {
      const met = group.filter(({ target }) => target.used <= 1);
      return met.toSorted((a, b) => b.target.used - a.target.used).slice(0, 1);
    }),
  );
  const rows = judged.filter((result) => result.target.used > 1 || closest.has(result)).map(pageRowOf);
  return `# Benchmarks

Written by \`npm run bench\` in ${run.minutes.toFixed(1)} minutes on ${machine()}, Node ${process.version}, embedded ClickHouse ${run.engineVersion}.
Of figures with the same comparison and target, this page has those that miss it (bold) and the closest other; \`npm run bench -- NAME\` prints all.
Both sides of a ratio of medians are measured in turn, clients in processes on the same machine. Absolute times hold for this machine only.

| scenario | figure | median | ratio | target |
|---|---|---|---|---|
${rows.join("\n")}
`;
}

interface JudgedResult extends ScenarioResult {
  readonly name: string;
  readonly target: Target;
}

function pageRowOf({ name, what, subject, against, unit, target }: JudgedResult): string {
  const ratio =
    against === undefined ? "" : `${(subject.median / against.spread.median).toFixed(2)} × ${against.what}`;
  const reached = target.used > 1 ? `**${target.text}**` : target.text;
  return `| ${name} | ${what} | ${medianOf(subject, unit)} | ${ratio} | ${reached} |`;
}

function medianOf({ median }: Spread, unit: string): string {
  return `${median.toFixed(digitsOf(median))} ${unit}`;
}

function machine(): string {
  const cpu = cpus();
  return `${cpu.length} × ${cpu[0]?.model ?? "unknown processor"}, ${Math.round(totalmem() / 2 ** 30)} GiB`;
}

function textOf({ median, min, max }: Spread, unit: string): string {
  const digits = digitsOf(median);
  return `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)}) ${unit}`;
}

function digitsOf(value: number): number {
  return value < 10 ? 2 : value < 100 ? 1 : 0;
}
