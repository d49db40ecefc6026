import type { FastifyInstance } from "fastify";
import { createOrphanCollector } from "./usage-rollup/delete-orphans.ts";
import { createMaterializer, type MaterializerDeps } from "./usage-rollup/materializer.ts";
import { registerPeriodic } from "./periodic.ts";

const MINUTE_MS = 60_000;

/** Registers the jobs that materialize the usage rollup. They stop with the app, even within a run. */
export function registerUsageRollup(app: FastifyInstance, deps: Omit<MaterializerDeps, "signal">): void {
  const closing = new AbortController();
  app.addHook("preClose", async () => closing.abort());
  const materializer = createMaterializer({ ...deps, signal: closing.signal });
  registerPeriodic(app, { name: "usage_rollup", everyMs: MINUTE_MS, run: () => materializer.run() });
  const orphans = createOrphanCollector(deps.engine);
  registerPeriodic(app, {
    name: "usage_rollup_orphans",
    everyMs: 60 * MINUTE_MS,
    run: () => orphans.run(),
  });
}
