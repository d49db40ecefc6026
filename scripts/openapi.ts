import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { buildApp } from "../src/app.ts";
import { generateKey } from "../src/http/auth/api-key.ts";
import type { Engine } from "../src/store/engine.ts";
import { readConfig } from "../src/config.ts";

/** Writes `openapi.json`; with `--check`, only reports whether the file is stale. */
const path = join(import.meta.dirname, "../openapi.json");
const dataDir = mkdtempSync(join(tmpdir(), "sumtree-openapi-"));
const app = await buildApp(readConfig({ DATA_DIR: dataDir }), {
  engine: noStore(),
  rootKey: generateKey().text,
  logger: pino({ level: "silent" }),
});
await app.ready();
const fresh = `${printJson(app.swagger())}\n`;
rmSync(dataDir, { recursive: true, force: true });

if (process.argv.includes("--check")) {
  if (fresh !== readFileSync(path, "utf8")) {
    console.error("openapi.json is stale: run `npm run openapi`.");
    process.exit(1);
  }
  console.log("openapi.json is fresh.");
} else {
  writeFileSync(path, fresh);
}
process.exit(0);

/** JSON that is easy to read and to compare: values that fit on a line are on one line. */
function printJson(value: unknown, indent = ""): string {
  const line = JSON.stringify(value);
  if (line.length + indent.length <= 110 || typeof value !== "object" || value === null) return line;
  const deeper = `${indent}  `;
  const isList = Array.isArray(value);
  const members = Object.entries(value).map(
    ([key, member]) => `${deeper}${isList ? "" : `${JSON.stringify(key)}: `}${printJson(member, deeper)}`,
  );
  return `${isList ? "[" : "{"}\n${members.join(",\n")}\n${indent}${isList ? "]" : "}"}`;
}

/** Describing the routes needs no store. */
function noStore(): Engine {
  const refuse = (): Promise<never> => Promise.reject(new Error("there is no store here"));
  return {
    rows: refuse,
    bytes: refuse,
    command: refuse,
    insert: refuse,
    writeCountOf: () => undefined,
    version: refuse,
    health: refuse,
    close: () => Promise.resolve(),
  };
}
