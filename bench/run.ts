import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEmbedded } from "../src/store/connect.ts";
import { pageOf, rowOf, TABLE_HEAD } from "./report.ts";
import type { ScenarioResult } from "./scenario.ts";

const PAGE = join(import.meta.dirname, "..", "docs", "benchmarks.md");

/** Each scenario has a process of its own: the embedded engine is one per process. */
async function run(name: string): Promise<readonly ScenarioResult[]> {
  const child = fork(join(import.meta.dirname, "run-scenario.ts"), [name], { execArgv: ["--expose-gc"] });
  const exit = once(child, "exit") as Promise<[code: number]>;
  const said = once(child, "message") as Promise<[readonly ScenarioResult[]]>;
  const results = await Promise.race([said.then(([rows]) => rows), exit.then(() => undefined)]);
  await exit;
  if (results === undefined) throw new Error(`${name} ended without a result`);
  return results;
}

async function engineVersion(): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), "sumtree-bench-"));
  const engine = await openEmbedded(dir);
  const version = await engine.version();
  await engine.close();
  rmSync(dir, { recursive: true, force: true });
  return version;
}

const all = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith(".bench.ts"))
  .map((file) => file.replace(".bench.ts", ""));
const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !all.includes(name));
if (unknown.length > 0) throw new Error(`No scenario ${unknown.join(", ")}. There are: ${all.join(", ")}.`);

const began = performance.now();
const results: [name: string, ScenarioResult][] = [];
console.log(TABLE_HEAD);
for (const name of asked.length === 0 ? all : asked) {
  const some = await run(name);
  for (const result of some) console.log(rowOf(name, result));
  results.push(...some.map((result): [string, ScenarioResult] => [name, result]));
}
const minutes = (performance.now() - began) / 60_000;
const missed = results.filter(([, { target }]) => target?.required === true && target.used > 1);
for (const [name, { what, target }] of missed) console.error(`${name}: ${what}: not ${target!.text}`);
if (missed.length > 0) process.exitCode = 1;
console.log(`\n${results.length} figures in ${minutes.toFixed(1)} minutes`);
if (asked.length === 0) {
  writeFileSync(PAGE, pageOf(results, { minutes, engineVersion: await engineVersion() }));
}
