import type { FastifyInstance } from "fastify";
import { createOrphanWatch } from "./ledger/forget-orphans.ts";
import { createSettler, type SettlerDeps } from "./ledger/settler.ts";
import { registerPeriodic } from "./periodic.ts";

const MINUTE_MS = 60_000;

/** The jobs that keep the ledger of usage up to date. They end with the app, even in the middle of a run. */
export function registerLedger(app: FastifyInstance, deps: Omit<SettlerDeps, "signal">): void {
  const closing = new AbortController();
  app.addHook("preClose", async () => closing.abort());
  const settler = createSettler({ ...deps, signal: closing.signal });
  registerPeriodic(app, { name: "ledger", everyMs: MINUTE_MS, run: () => settler.run() });
  const orphans = createOrphanWatch(deps.engine);
  registerPeriodic(app, {
    name: "ledger_orphans",
    everyMs: 60 * MINUTE_MS,
    run: () => orphans.run(),
  });
}
