import { readdirSync, readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";

// Statements of the embedded engine run on these; a worker process reads it when it starts.
process.env["UV_THREADPOOL_SIZE"] ??= "16";

/** These take too long for `npm test`. */
const ONLY_LONG = [
  "browser/failures",
  "browser/large-trace",
  "browser/live-trace",
  "browser/numbers",
  "browser/one-total",
  "browser/outcomes",
  "browser/questions",
  "browser/states",
  "browser/using",
  "clients/generated-clients",
  "contract/limits",
  "faults/backup-restore",
  "faults/clock-jumps",
  "faults/crash",
  "faults/failed-starts",
  "faults/full-disk",
  "faults/kill-during-budgets",
  "faults/kill-during-completions",
  "faults/kill-during-delete",
  "faults/kill-during-feedback",
  "faults/kill-during-migration",
  "faults/kill-during-training",
  "faults/killed-lives",
  "faults/killed-usage-stats",
  "faults/overload",
  "faults/fairness",
  "faults/soak",
  "faults/stop-open",
  "faults/store-away",
  "faults/store-away-over-http",
  "http/many-months",
  "http/model-api-sums",
  "http/rows-read",
  "scripts/usage-rollup",
  "scripts/package",
].map((name) => `test/${name}.test.ts`);

/** `npm run test:long` runs these, and what does more then than in `npm test`. */
const isLong = process.env["LONG"] === "1";
const LEFT_OUT = isLong ? testFiles().filter((file) => !isForLong(file)) : ONLY_LONG;

/** These open an engine of their own, of which a process can have one, or watch what their process does. */
const ALONE = [
  "contract/limits",
  "engine/changes",
  "engine/embedded",
  "engine/http-front",
  "faults/failed-starts",
  "faults/fairness",
  "faults/store-away-over-http",
  "http/many-months",
  "scripts/usage-rollup",
].map((name) => `test/${name}.test.ts`);

/** These share the engine of their worker, which is empty for each of them, or do without. */
const SHARED = [
  "test/{browser,clients,contract,differential,engine,faults,http,scripts,security}/**/*.test.ts",
];

const UNIT = ["test/unit/**/*.test.ts"];

export default defineConfig({
  test: {
    globalSetup: ["test/helpers/temporary-files.ts", "test/helpers/print-seed.ts"],
    setupFiles: "test/helpers/seed-fast-check.ts",
    pool: "forks",
    // on two cores: two work while one waits
    maxWorkers: 3,
    testTimeout: isLong ? 1_800_000 : 120_000,
    hookTimeout: 120_000,
    // a condition that is awaited may take long on a busy machine
    expect: { poll: { timeout: 90_000 } },
    coverage: { include: ["src/**"], provider: "v8" },
    // they run in this order: a worker goes on with the next file of its project
    projects: [
      { extends: true, test: { name: "alone", include: ALONE, exclude: LEFT_OUT } },
      {
        extends: true,
        test: { name: "shared", include: SHARED, exclude: [...ALONE, ...LEFT_OUT], isolate: false },
      },
      { extends: true, test: { name: "unit", include: UNIT, exclude: LEFT_OUT, isolate: false } },
    ],
  },
});

function isForLong(file: string): boolean {
  return ONLY_LONG.includes(file) || readFileSync(file, "utf8").includes("/helpers/runs.ts");
}

function testFiles(): readonly string[] {
  const files = readdirSync("test", { recursive: true, encoding: "utf8" });
  return files.filter((file) => file.endsWith(".test.ts")).map((file) => `test/${file}`);
}
