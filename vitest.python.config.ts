import { defineConfig } from "vitest/config";

/** Real Python packages against a running service: `npm run test:python`. Needs Python 3.11 and its package index. */
export default defineConfig({
  test: {
    include: ["test/python/**/*.test.ts"],
    testTimeout: 120_000,
    hookTimeout: 900_000,
    fileParallelism: false,
  },
});
