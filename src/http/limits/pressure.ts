import { monitorEventLoopDelay } from "node:perf_hooks";
import { Transform, type Readable, type TransformCallback } from "node:stream";
import type { FastifyInstance, RequestPayload } from "fastify";
import { boundsItself } from "./bounds-itself.ts";
import { AppError } from "../../shared/errors.ts";

export interface PressureLimits {
  readonly maxEventLoopDelayMs: number;
  /** 0: no limit. Includes the embedded store, which runs in this process. */
  readonly maxRssBytes: number;
  /** The decompressed bodies of all running requests together. */
  readonly maxBodyBytes: number;
}

/** Rejects requests early when the process is overloaded: 503 with `Retry-After`. Public routes always respond. */
export function registerPressure(app: FastifyInstance, limits: PressureLimits): void {
  const load = watchLoad(app, limits.maxRssBytes > 0);
  app.addHook("onRequest", async (request) => {
    const late = load.eventLoopDelayMs > limits.maxEventLoopDelayMs;
    const large = limits.maxRssBytes > 0 && load.rssBytes > limits.maxRssBytes;
    if ((late || large) && request.routeOptions.config.access !== "public") throw overloaded();
  });
  boundBodies(app, limits.maxBodyBytes);
}

interface Load {
  eventLoopDelayMs: number;
  rssBytes: number;
}

const SAMPLE_MS = 1000;
const RESOLUTION_MS = 10;

/**
 * Samples the event-loop delay once a second and, if needed, the memory. The process is late if two samples in a row are:
 * one long task, such as a large body, is over by the time it is noticed.
 */
function watchLoad(app: FastifyInstance, withMemory: boolean): Load {
  const load: Load = { eventLoopDelayMs: 0, rssBytes: 0 };
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  let lastDelayMs = 0;
  const timer = setInterval(() => {
    // No sample: one long stall, such as a start. It is over, or this would not run.
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

/** Undefined while no file can be opened: the kernel reports it through one. */
function residentBytes(): number | undefined {
  try {
    return process.memoryUsage.rss();
  } catch {
    return undefined;
  }
}

function boundBodies(app: FastifyInstance, maxBytes: number): void {
  let inFlightBytes = 0;
  app.addHook("preParsing", async (request, reply, payload) => {
    const { access } = request.routeOptions.config;
    if (access === undefined || access === "public" || boundsItself(request)) return payload;
    // the client has left: "close" will not come again to release the space
    if (reply.raw.closed) return payload;
    let ownBytes = 0;
    const take = (bytes: number): void => {
      if (inFlightBytes + bytes > maxBytes) throw overloaded();
      ownBytes += bytes;
      inFlightBytes += bytes;
    };
    reply.raw.once("close", () => {
      inFlightBytes -= ownBytes;
    });
    const declared = request.headers["content-length"];
    if (declared !== undefined && request.headers["content-encoding"] === undefined) {
      take(Number(declared));
      return payload;
    }
    return counted(payload, take);
  });
}

/** Passes a body on and reports the size of each chunk; fails if `take` throws. */
function counted(payload: RequestPayload, take: (bytes: number) => void): Readable {
  const counter: Transform & { receivedEncodedLength?: number } = new Transform({
    transform(chunk: Buffer, _encoding, done: TransformCallback) {
      try {
        take(chunk.length);
        done(null, chunk);
      } catch (error) {
        done(error as Error);
      }
    },
  });
  // Fastify compares it with Content-Length
  Object.defineProperty(counter, "receivedEncodedLength", { get: () => payload.receivedEncodedLength });
  payload.on("error", (error: Error) => counter.destroy(error));
  return payload.pipe(counter);
}

function overloaded(): AppError {
  return new AppError("service_overloaded", "The service has too much to do. Try again.", {
    retryAfterSeconds: 2,
  });
}
