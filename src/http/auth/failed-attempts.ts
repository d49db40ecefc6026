import { normalizeIP } from "@fastify/rate-limit";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { retryAfterOf } from "../limits/request-limits.ts";

/** Counter of failed authentications by client address and minute. */
export interface FailedAttempts {
  /** Seconds until the address may try again; undefined: now. */
  retryAfterSeconds(request: FastifyRequest): Promise<number | undefined>;
  count(request: FastifyRequest): Promise<void>;
}

/** Needs `registerRequestLimits`. */
export function createFailedAttempts(app: FastifyInstance, maxPerMinute: number): FailedAttempts {
  const limiter = app.createRateLimit({
    max: maxPerMinute,
    timeWindow: 60_000,
    keyGenerator: (request) => normalizeIP(request.ip),
  });
  return {
    async retryAfterSeconds(request) {
      const state = await limiter(request, { increment: false });
      if (state.isAllowed || state.remaining > 0) return undefined;
      return retryAfterOf(state.ttl);
    },
    async count(request) {
      await limiter(request);
    },
  };
}
