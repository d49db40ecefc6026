import { defineConfig } from "vitest/config";

// Statements of the embedded engine run on these; a worker process reads it when it starts.
process.env["UV_THREADPOOL_SIZE"] ??= "16";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // with commands of their own: these kill what they share, those need Python
    exclude: ["test/cluster/**", "test/python/**"],
    // One embedded engine per process: each test file gets a process of its own.
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // a condition that is awaited may take long on a busy machine
    expect: { poll: { timeout: 90_000 } },
    coverage: { include: ["src/**"], provider: "v8" },
  },
});
