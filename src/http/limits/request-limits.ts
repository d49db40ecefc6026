import rateLimit from "@fastify/rate-limit";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { FairSemaphore } from "../../fairness/fair-semaphore.ts";
import { AppError } from "../../shared/errors.ts";
import { hasOwnLimits } from "./has-own-limits.ts";
import { whenClosed } from "../when-closed.ts";

export interface RequestLimits {
  /** Requests per minute of an entity; a key may send half of it. */
  readonly maxPerMinute: number;
  /** Limiter of open requests, except those of the gateway. */
  readonly open: FairSemaphore;
}

/**
 * Limits the requests per minute and the concurrent requests of each entity and key. Register it before the guard,
 * which puts its check first.
 */
export async function registerRequestLimits(app: FastifyInstance, limits: RequestLimits): Promise<void> {
  await app.register(rateLimit, { global: false, timeWindow: 60_000 });
  // requests rejected for a key do not count for its entity
  const levels = (["key", "entity"] as const).map((level) => ({
    level,
    check: app.createRateLimit({
      max: level === "key" ? Math.ceil(limits.maxPerMinute / 2) : limits.maxPerMinute,
      keyGenerator: ({ grant }) => grant.tenant[level],
    }),
  }));
  const count = async (request: FastifyRequest): Promise<void> => {
    for (const { level, check } of levels) {
      const counted = await check(request);
      if (counted.isAllowed || !counted.isExceeded) continue;
      throw new AppError("too_many_requests", `This ${level} may send ${counted.max} requests a minute.`, {
        retryAfterSeconds: retryAfterOf(counted.ttl),
      });
    }
  };
  const enter = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const held = limits.open.tryAcquire(request.grant.tenant);
    if (held === undefined) {
      throw new AppError(
        "concurrency_limit",
        "Too many open requests of this key or its entity (KEY_MAX_CONCURRENT). Retry later.",
        {
          retryAfterSeconds: 1,
        },
      );
    }
    whenClosed(reply.raw, () => held.release());
  };
  app.addHook("onRoute", (route) => {
    const { config = {} } = route;
    if (config.access === undefined || config.access === "public") return;
    const limit = hasOwnLimits(config) ? [count] : [count, enter];
    route.onRequest = [...[route.onRequest ?? []].flat(), ...limit];
  });
}

/** Returns seconds for `Retry-After`: 1 to 59. */
export function retryAfterOf(ttlMs: number): number {
  return Math.min(Math.max(Math.ceil(ttlMs / 1000), 1), 59);
}
