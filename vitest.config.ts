import { readdirSync, readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";

// Statements of the embedded engine run on these; a worker process reads it when it starts.
process.env["UV_THREADPOOL_SIZE"] ??= "16";

/** `npm run test:long` runs what does more then than in `npm test`. */
const isLong = process.env["LONG"] === "1";
const LEFT_OUT = isLong
  ? testFiles().filter((file) => !readFileSync(file, "utf8").includes("/helpers/runs.ts"))
  : [];

/** These start an engine or a process of their own, or watch what their process does. */
const ALONE = [
  "test/{browser,engine,faults,scripts}/**/*.test.ts",
  "test/contract/limits.test.ts",
  "test/contract/readme.test.ts",
  "test/differential/noted-places.test.ts",
  "test/http/pressure.test.ts",
];

/** These need a store, and share the engine of their worker, which is empty for each of them. */
const SHARED = ["test/{clients,contract,differential,http,security}/**/*.test.ts"];

const UNIT = ["test/unit/**/*.test.ts"];

export default defineConfig({
  test: {
    globalSetup: "test/helpers/temporary-files.ts",
    pool: "forks",
    maxWorkers: 2,
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

function testFiles(): readonly string[] {
  const files = readdirSync("test", { recursive: true, encoding: "utf8" });
  return files.filter((file) => file.endsWith(".test.ts")).map((file) => `test/${file}`);
}
