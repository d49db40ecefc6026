import { monitorEventLoopDelay } from "node:perf_hooks";
import type { FastifyInstance } from "fastify";
import { AppError } from "../../shared/errors.ts";

export interface PressureLimits {
  readonly maxEventLoopDelayMs: number;
  /** Memory of the process, embedded engine included, in bytes; 0: no limit. */
  readonly maxRssBytes: number;
}

/** Rejects requests early when the process is overloaded: 503 with `Retry-After`. Public routes always respond. */
export function registerLoadShedding(app: FastifyInstance, limits: PressureLimits): void {
  const load = watchLoad(app, limits.maxRssBytes > 0);
  app.addHook("onRequest", async (request) => {
    const late = load.eventLoopDelayMs > limits.maxEventLoopDelayMs;
    const large = limits.maxRssBytes > 0 && load.rssBytes > limits.maxRssBytes;
    if ((late || large) && request.routeOptions.config.access !== "public") throw overloaded();
  });
}

interface Load {
  eventLoopDelayMs: number;
  rssBytes: number;
}

const SAMPLE_MS = 1000;
const RESOLUTION_MS = 10;

/**
 * Samples the event-loop delay once a second and, if needed, the memory. Two late samples in a row count as overload: a
 * single long task, such as a large body, is over when it is noticed.
 */
function watchLoad(app: FastifyInstance, withMemory: boolean): Load {
  const load: Load = { eventLoopDelayMs: 0, rssBytes: 0 };
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  let lastDelayMs = 0;
  const timer = setInterval(() => {
    // no sample: a single long stall, such as a start, is over
    const delayMs = delays.count === 0 ? 0 : delays.mean / 1e6 - RESOLUTION_MS;
    load.eventLoopDelayMs = Math.min(delayMs, lastDelayMs);
    lastDelayMs = delayMs;
    delays.reset();
    if (withMemory) load.rssBytes = residentBytes() ?? load.rssBytes;
  }, SAMPLE_MS).unref();
  app.addHook("onClose", async () => {
    clearInterval(timer);
    delays.disable();
  });
  return load;
}

/** Returns the resident memory; undefined while no file descriptor is free to read it. */
function residentBytes(): number | undefined {
  try {
    return process.memoryUsage.rss();
  } catch {
    return undefined;
  }
}

function overloaded(): AppError {
  return new AppError("service_overloaded", "Server overloaded (event loop or MAX_RSS_BYTES). Retry later.", {
    retryAfterSeconds: 2,
  });
}
