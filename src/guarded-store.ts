import type { FastifyInstance } from "fastify";
import { registerPeriodic } from "./periodic.ts";
import type { Clock } from "./shared/clock.ts";
import { cacheReads } from "./store/cached-reads.ts";
import type { Engine } from "./store/engine.ts";
import { retryWithoutSpace } from "./store/require-free-space.ts";
import { instrumentEngine, type StatementMeter } from "./store/instrumented-engine.ts";
import { guardMigrations, type MigrationGuard } from "./store/migration-guard.ts";

interface Deps {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly meter: StatementMeter;
}

export interface GuardedStore extends Engine {
  readonly compareMigrations: MigrationGuard["compare"];
}

const COMPARE_EVERY_MS = 60_000;

/** Instruments the engine and blocks writes once a newer version has migrated the store. */
export function guardStore(app: FastifyInstance, { engine, clock, meter }: Deps): GuardedStore {
  const guard = guardMigrations(engine, {
    clock,
    onNewer: (migrations) =>
      app.log.warn({ migrations }, "store migrated by a newer version: writes blocked"),
  });
  registerPeriodic(app, { name: "compare_migrations", everyMs: COMPARE_EVERY_MS, run: guard.compare });
  const guarded = retryWithoutSpace(instrumentEngine(guard.engine, meter));
  return { ...cacheReads(guarded), compareMigrations: guard.compare };
}
