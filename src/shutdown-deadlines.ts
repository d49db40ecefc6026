import type { Config } from "./config.ts";

/** What a stop may take, phase by phase. What is left of it is for the writers and the store. */
export interface StopTimes {
  /** Open responses may continue for this long; then the gateway tells its clients that it stops. */
  readonly graceMs: number;
  /** After this, connections that are still open are cut. */
  readonly closeMs: number;
  /** Recorded completions may take this long to be stored. */
  readonly recordMs: number;
}

export function shutdownDeadlines({
  SHUTDOWN_TIMEOUT_MS: totalMs,
}: Pick<Config, "SHUTDOWN_TIMEOUT_MS">): StopTimes {
  return { graceMs: totalMs / 3, closeMs: totalMs / 2, recordMs: totalMs / 4 };
}
