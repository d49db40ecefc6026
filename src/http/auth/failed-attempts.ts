import { normalizeIP } from "@fastify/rate-limit";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { retryAfterOf } from "../limits/request-limits.ts";

/** Counts wrong credentials by client address, minute by minute. */
export interface FailedAttempts {
  /** Seconds to wait if the address has used up its attempts, else undefined. */
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
