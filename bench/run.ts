import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import type { Scenario, ScenarioResult, Spread } from "./scenario.ts";

const asked = process.argv.slice(2);
const alone = asked.length === 1 && process.env["BENCH_CHILD"] === "1";

/** Each scenario has a process of its own: the embedded engine is one per process. */
if (alone) {
  const { scenario } = (await import(join(import.meta.dirname, `${asked[0]!}.bench.ts`))) as {
    scenario: Scenario;
  };
  const results = await scenario.run();
  process.stdout.write(`\n${results.map((result) => rowOf(scenario.name, result)).join("\n")}\n`);
  process.exit(0);
}

const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith(".bench.ts"))
  .map((file) => file.replace(".bench.ts", ""))
  .filter((name) => asked.length === 0 || asked.includes(name));
const cpu = cpus();
console.log(
  `${cpu.length} × ${cpu[0]?.model ?? "unknown processor"}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}\n`,
);
console.log("| scenario | what | median (min–max) | against | median (min–max) | ratio | target | |");
console.log("|---|---|---|---|---|---|---|---|");
let failed = false;
for (const name of names) {
  const child = spawnSync(process.execPath, ["--expose-gc", import.meta.filename, name], {
    env: { ...process.env, BENCH_CHILD: "1" },
    stdio: ["ignore", "pipe", "inherit"],
    encoding: "utf8",
  });
  process.stdout.write(child.stdout.trimStart());
  failed ||= child.status !== 0;
}
process.exitCode = failed ? 1 : 0;

function rowOf(name: string, { what, subject, against, unit, target, met }: ScenarioResult): string {
  const cells = [
    name,
    what,
    textOf(subject, unit),
    against?.what ?? "–",
    against === undefined ? "–" : textOf(against.spread, unit),
    against === undefined ? "–" : (subject.median / against.spread.median).toFixed(2),
    target,
    met ? "met" : "**not met**",
  ];
  return `| ${cells.join(" | ")} |`;
}

function textOf({ median, min, max }: Spread, unit: string): string {
  const digits = median < 10 ? 2 : median < 100 ? 1 : 0;
  return `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)}) ${unit}`;
}
