import type { FastifyInstance } from "fastify";

export interface PeriodicJob {
  readonly name: string;
  readonly everyMs: number;
  readonly run: () => Promise<unknown>;
}

/** Runs a job again and again while the app is up, once more when it closes; never two at a time. */
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
  app.addHook("onClose", async () => {
    clearInterval(timer);
    await running;
    await tick();
  });
}
