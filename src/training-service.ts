import type { FastifyInstance } from "fastify";
import { createOwnerLedger } from "./gateway/ownership/ledger/owner-ledger.ts";
import { registerPeriodic } from "./periodic.ts";
import type { Clock } from "./shared/clock.ts";
import type { Engine } from "./store/engine.ts";
import type { GroupCommitSettings } from "./store/group-commit.ts";
import { createJobStore } from "./training-jobs/job-store.ts";
import { trainingJobRoutes } from "./training-jobs/routes.ts";
import { createTrainingJobs } from "./training-jobs/training-jobs.ts";

const FOLLOW_EVERY_MS = 1000;
const REFRESH_EVERY_MS = 10_000;

export interface TrainingServiceDeps {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly steady: Clock;
  readonly writing: GroupCommitSettings;
}

/** Registers the ledgers of training: of owners, and of jobs with its route and what follows and refreshes it. */
export async function registerTraining(
  app: FastifyInstance,
  { engine, clock, steady, writing }: TrainingServiceDeps,
) {
  const ledger = createOwnerLedger(engine, writing);
  const store = createJobStore(engine, writing);
  // after the gateway has ended its requests
  app.addHook("onClose", () => Promise.all([store.drain(), ledger.drain()]));
  const jobs = createTrainingJobs({ store, clock, steady, log: app.log });
  registerPeriodic(app, { name: "training_jobs", everyMs: FOLLOW_EVERY_MS, run: () => jobs.follow() });
  registerPeriodic(app, { name: "training_uploads", everyMs: REFRESH_EVERY_MS, run: () => jobs.refresh() });
  await app.register(trainingJobRoutes, { store, clock });
  return { ledger, jobs };
}
