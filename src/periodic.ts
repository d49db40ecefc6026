import type { FastifyInstance } from "fastify";

export interface PeriodicJob {
  readonly name: string;
  readonly everyMs: number;
  /** Runs also once the app listens. */
  readonly atStart?: boolean;
  /** Runs also at shutdown, after the last request. */
  readonly atEnd?: boolean;
  readonly run: () => Promise<unknown>;
}

/** Runs a job periodically while the app is up, never concurrently. Logs failures; the next tick retries. */
export function registerPeriodic(app: FastifyInstance, job: PeriodicJob): void {
  let running: Promise<void> | undefined;
  const run = async (): Promise<void> => {
    try {
      await job.run();
    } catch (error) {
      app.log.warn({ err: error, job: job.name }, "periodic job failed");
    } finally {
      running = undefined;
    }
  };
  const tick = (): Promise<void> => (running ??= run());
  const timer = setInterval(() => void tick(), job.everyMs);
  timer.unref();
  if (job.atStart === true) app.addHook("onListen", async () => void tick());
  app.addHook("onClose", async () => {
    clearInterval(timer);
    await running;
    if (job.atEnd === true) await tick();
  });
}
