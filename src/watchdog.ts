import { extname } from "node:path";
import { Worker } from "node:worker_threads";

const THREAD = new URL(`./watchdog-thread${extname(import.meta.url)}`, import.meta.url);
const BEAT_MS = 500;

export interface Watched {
  /** Counted up by the event loop. */
  readonly beats: Int32Array<SharedArrayBuffer>;
  readonly seconds: number;
}

/**
 * Ends the process when its event loop has stood for so long: it listens and answers nothing then, and what would start it
 * again sees only its end. A thread of its own counts seconds, those of a machine that sleeps not among them.
 */
export function startWatchdog(seconds: number): void {
  const beats = new Int32Array(new SharedArrayBuffer(4));
  setInterval(() => Atomics.add(beats, 0, 1), BEAT_MS).unref();
  const workerData: Watched = { beats, seconds };
  const resourceLimits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 };
  new Worker(THREAD, { workerData, resourceLimits, env: {} }).unref();
}
