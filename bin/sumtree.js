#!/usr/bin/env node
// Plain JavaScript for whatever Node there is: it finds one that is new enough and runs the command with it.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const NEEDED = 24;
const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
const FILES = {
  start: "src/main",
  demo: "scripts/demo",
  keys: "scripts/keys",
  budgets: "scripts/budgets",
  dataset: "scripts/dataset",
  migrate: "scripts/migrate",
  "usage-rollup": "scripts/usage-rollup",
  backup: "scripts/backup",
  restore: "scripts/restore",
};
const USAGE = `Sumtree: what every call of an LLM trace really used and cost.

  sumtree [start]      serve; settings are environment variables
  sumtree demo         serve sample data
  sumtree keys …       manage API keys
  sumtree budgets …    manage budgets
  sumtree dataset …    export calls as examples for training
  sumtree migrate      bring a store to this version
  sumtree usage-rollup …  verify or rebuild the hourly pre-aggregation
  sumtree backup       copy the embedded store while it runs
  sumtree restore …    make a store from a copy
  sumtree --version`;

const [command = "start", ...rest] = process.argv.slice(2);
if (command === "--version" || command === "-v") {
  console.log(JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).version);
} else if (Object.hasOwn(FILES, command)) {
  await run(fileOf(FILES[command]), rest);
} else {
  const asked = command === "--help" || command === "-h" || command === "help";
  console[asked ? "log" : "error"](USAGE);
  process.exitCode = asked ? 0 : 2;
}

/** A clone has the sources; a package has what was built of them, for Node reads no types in node_modules. */
function fileOf(name) {
  const source = join(ROOT, `${name}.ts`);
  return existsSync(source) ? source : join(ROOT, "dist", `${name}.js`);
}

async function run(file, args) {
  if (Number(process.versions.node.split(".")[0]) >= NEEDED) {
    process.argv = [process.argv[0], file, ...args];
    await import(pathToFileURL(file).href).catch((error) => {
      if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
      console.error(
        `A dependency is missing. Run \`npm ci\` in ${ROOT}.\n${error.message.split(" imported ")[0]}`,
      );
      process.exitCode = 1;
    });
    return;
  }
  const newer = installedNode();
  if (newer === undefined) {
    console.error(
      `Sumtree needs Node ${NEEDED} or newer, and this is ${process.version}. Install one, or install Sumtree with ` +
        "install scripts allowed: its dependency `node` then brings one.",
    );
    process.exitCode = 1;
    return;
  }
  const child = spawn(newer, [file, ...args], { stdio: "inherit" });
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGKILL" ? 137 : 1)));
}

/** The binary that the package `node` has put among the dependencies. */
function installedNode() {
  try {
    const path = join(dirname(createRequire(import.meta.url).resolve("node/package.json")), "bin/node");
    return existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
}
