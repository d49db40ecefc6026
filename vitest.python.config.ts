import { defineConfig } from "vitest/config";

/**
 * Real Python packages against a running service: `npm run test:python`. Needs Python 3.11 and its package index.
 * `PYTHON_ENVIRONMENTS="core official"` chooses among the environments of `test/python/requirements`.
 */
export default defineConfig({
  test: {
    include: ["test/python/**/*.test.ts"],
    globalSetup: ["test/python/install.ts", "test/helpers/print-seed.ts"],
    testTimeout: 420_000,
    hookTimeout: 120_000,
    fileParallelism: false,
  },
});
