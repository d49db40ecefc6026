import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { FairSemaphore } from "../../fairness/fair-semaphore.ts";
import { AppError } from "../../shared/errors.ts";
import { tenantOf } from "../auth/tenant-of.ts";
import { hasOwnLimits } from "./has-own-limits.ts";
import { whenClosed } from "../when-closed.ts";

export interface SlowClientLimits {
  /** Limiter of streamed responses; each buffers its next chunks. */
  readonly streams: FairSemaphore;
  /** Disconnects a client that reads nothing of its response for this long. */
  readonly stallMs: number;
}

/** Limits the number and duration of responses to slow clients. The gateway has its own limits. */
export function registerSlowClients(app: FastifyInstance, limits: SlowClientLimits): void {
  app.addHook("onSend", async (request, reply, payload) => {
    if (!(payload instanceof Readable) || hasOwnLimits(request.routeOptions.config)) return payload;
    const held = limits.streams.tryAcquire(tenantOf(request));
    if (held === undefined) {
      payload.destroy();
      throw new AppError(
        "service_overloaded",
        "Too many large responses in flight (MAX_STREAMED_RESPONSES). Retry later.",
        {
          retryAfterSeconds: 5,
        },
      );
    }
    const watch = endStalledResponse(reply, limits.stallMs);
    whenClosed(reply.raw, () => {
      held.release();
      clearTimeout(watch);
    });
    return payload;
  });
}

/** Aborts a response that the client has not read for `stallMs`, at most twice that time later. */
function endStalledResponse({ raw, log }: FastifyReply, stallMs: number): NodeJS.Timeout {
  let waited = false;
  const timer = setTimeout(() => {
    const waits = raw.writableNeedDrain || raw.writableEnded;
    if (waits && waited) {
      log.warn("the client does not take its response");
      raw.destroy();
      return;
    }
    waited = waits;
    timer.refresh();
  }, stallMs).unref();
  raw.on("drain", () => {
    waited = false;
    timer.refresh();
  });
  return timer;
}
