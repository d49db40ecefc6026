import type { FastifyInstance } from "fastify";

export interface PeriodicJob {
  readonly name: string;
  readonly everyMs: number;
  /** Also as soon as the app listens. */
  readonly atStart?: boolean;
  /** Also when it closes, after the last request. */
  readonly atEnd?: boolean;
  readonly run: () => Promise<unknown>;
}

/** Runs a job again and again while the app is up, never two at a time. A failure is logged, and the next turn tries again. */
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
