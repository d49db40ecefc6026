import { defineConfig } from "vitest/config";

/** Suites of one server whose expectations several shards must meet as well: `npm run test:shards`. */
const suites = {
  differential: [
    "call-lifecycle",
    "datasets",
    "feedback-replicas",
    "in-time",
    "one-request",
    "outcomes",
    "price-lifecycle",
    "query-evaluator",
    "query-mingo",
    "ratings",
    "traces-query",
    "usage-rollup",
    "usage-stats",
    "windows-while-written",
  ],
  engine: ["hour-buckets"],
  http: [
    "audit",
    "calls-query",
    "calls-with-feedback",
    "costs",
    "data-tables",
    "dataset-export",
    "feedback",
    "feedback-stats",
    "feedback-stats-groups",
    "fields-query",
    "message-seams",
    "objects",
    "outcomes",
    "projects",
    "receipt",
    "shared-completions",
    "retention",
    "stored-as-sent",
    "trace-calls",
    "trace-usage",
    "traces",
    "training-jobs",
    "training-tenants",
    "usage-stats",
    "whoami",
  ],
};

export default defineConfig({
  test: {
    include: Object.entries(suites).flatMap(([folder, names]) =>
      names.map((name) => `test/${folder}/${name}.test.ts`),
    ),
    globalSetup: ["test/helpers/require-external-store.ts", "test/helpers/print-seed.ts"],
    setupFiles: "test/helpers/seed-fast-check.ts",
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 90_000 } },
  },
});
