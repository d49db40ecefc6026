import type { FastifyInstance } from "fastify";
import { advanceDeletions } from "./admin/projects/advance-deletions.ts";
import { createDeletionStore, newDeletion } from "./admin/projects/deletion-store.ts";
import { createMutations } from "./admin/projects/mutations.ts";
import { deleteExpired } from "./admin/projects/retention.ts";
import { projectRoutes } from "./admin/projects/routes.ts";
import type { Config } from "./config.ts";
import type { CallWriter } from "./calls/write/call-writer.ts";
import { registerPeriodic } from "./periodic.ts";
import type { Clock } from "./shared/clock.ts";
import type { Project } from "./shared/project.ts";
import type { Engine } from "./store/engine.ts";

const MINUTE_MS = 60_000;

interface DeletionJobs {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly writer: CallWriter;
}

/**
 * Registers deletion routes and jobs. Returns a function that requests erasure of deleted calls and returns the deletion
 * id.
 */
export async function registerDeletions(
  app: FastifyInstance,
  config: Pick<Config, "CLICKHOUSE_CLUSTER">,
  { engine, clock, writer: { runExclusive } }: DeletionJobs,
): Promise<(project: Project) => Promise<string>> {
  const mutations = createMutations(engine, config.CLICKHOUSE_CLUSTER);
  const deletions = createDeletionStore(engine);
  const deps = { engine, clock, mutations, deletions, runExclusive };
  await app.register(projectRoutes, deps);
  registerPeriodic(app, { name: "deletions", everyMs: 5 * MINUTE_MS, run: () => advanceDeletions(deps) });
  const expire = (): Promise<void> => deleteExpired({ ...deps, log: app.log });
  registerPeriodic(app, { name: "retention", everyMs: 60 * MINUTE_MS, run: expire });
  return async (project) => {
    const deletion = newDeletion(project, "calls", clock);
    await deletions.save([deletion]);
    return deletion.id;
  };
}
