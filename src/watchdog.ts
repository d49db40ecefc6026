import { extname } from "node:path";
import { Worker } from "node:worker_threads";

const THREAD = new URL(`./watchdog-thread${extname(import.meta.url)}`, import.meta.url);
const BEAT_MS = 500;

export interface Watched {
  /** Incremented by the event loop. */
  readonly beats: Int32Array<SharedArrayBuffer>;
  readonly seconds: number;
}

/**
 * Kills the process when its event loop is blocked for `seconds`, so that a supervisor restarts it. A separate thread
 * counts; time asleep does not count.
 */
export function startWatchdog(seconds: number): void {
  const beats = new Int32Array(new SharedArrayBuffer(4));
  setInterval(() => Atomics.add(beats, 0, 1), BEAT_MS).unref();
  const workerData: Watched = { beats, seconds };
  const resourceLimits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 };
  new Worker(THREAD, { workerData, resourceLimits, env: {} }).unref();
}
