import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/cluster/**/*.test.ts"],
    globalSetup: "test/helpers/print-seed.ts",
    setupFiles: "test/helpers/seed-fast-check.ts",
    // one cluster, whose replicas are killed
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
