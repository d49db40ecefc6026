import type { FastifyInstance, FastifyReply, FastifyRequest, RequestPayload } from "fastify";
import type { FairSemaphore, Permit } from "../../fairness/fair-semaphore.ts";
import { AppError } from "../../shared/errors.ts";
import { tenantOf } from "../auth/tenant-of.ts";
import { whenClosed } from "../when-closed.ts";
import { hasOwnLimits } from "./has-own-limits.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Permit for the body's bytes in flight; null before the first byte. */
    bodyBytes: Permit | null;
    /** Counts memory of a body until the response is closed. Errors: service_overloaded. */
    holdBytes(bytes: number): void;
  }
}

/** Counts the bytes of bodies, decompressed, while they arrive; the gateway counts those that it reads itself. */
export function registerBodyBytes(app: FastifyInstance, inFlight: FairSemaphore): void {
  app.decorateRequest("bodyBytes", null);
  app.decorateRequest("holdBytes", function (this: FastifyRequest, bytes: number) {
    if (this.bodyBytes?.more(bytes) === true) return;
    const held = this.bodyBytes === null ? inFlight.tryAcquire(tenantOf(this), bytes) : undefined;
    if (held === undefined) throw tooManyInFlight();
    this.bodyBytes = held;
  });
  app.addHook("onRoute", (route) => {
    const watch = hasOwnLimits(route.config ?? {}) ? () => undefined : countArriving;
    const count = (...[request, reply, payload, done]: PreParsing): void => {
      const stop = watch(request, payload);
      whenClosed(reply.raw, () => {
        stop?.();
        request.bodyBytes?.release();
      });
      done(null, payload);
    };
    // the hook that decompresses puts itself before
    route.preParsing = [...[route.preParsing ?? []].flat(), count];
  });
}

type PreParsing = [
  request: FastifyRequest,
  reply: FastifyReply,
  payload: RequestPayload,
  done: (error: null, payload: RequestPayload) => void,
];

/** Returns a function that stops counting. */
function countArriving(request: FastifyRequest, payload: RequestPayload): () => void {
  const stop = (): void => void payload.off("data", onData);
  const onData = (chunk: Buffer): void => {
    try {
      request.holdBytes(chunk.length);
    } catch (error) {
      stop();
      // the parser fails with it; `destroy` would close the connection without a response
      payload.emit("error", error);
    }
  };
  // a listener starts the flow, unless it is paused; a late error has no other listener
  payload
    .pause()
    .on("data", onData)
    .on("error", () => undefined);
  return stop;
}

function tooManyInFlight(): AppError {
  return new AppError("service_overloaded", "Too many bytes of request bodies in flight. Retry later.", {
    retryAfterSeconds: 2,
  });
}
