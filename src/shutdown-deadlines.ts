import type { Config } from "./config.ts";

/** Durations of the shutdown phases, in ms. The rest is for writers and the store. */
export interface ShutdownDeadlines {
  /** Time for open responses before the gateway aborts them. */
  readonly graceMs: number;
  /** Time until open connections are closed. */
  readonly closeMs: number;
  /** Time to store recorded completions. */
  readonly recordMs: number;
}

export function shutdownDeadlines({
  SHUTDOWN_TIMEOUT_MS: totalMs,
}: Pick<Config, "SHUTDOWN_TIMEOUT_MS">): ShutdownDeadlines {
  return { graceMs: totalMs / 3, closeMs: totalMs / 2, recordMs: totalMs / 4 };
}
