import rateLimit from "@fastify/rate-limit";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../../shared/clock.ts";
import type { FairSemaphore } from "../../fairness/fair-semaphore.ts";
import { levelsOf } from "../../fairness/tenant.ts";
import { MAX_FREE_FRACTION } from "../../fairness/allocations.ts";
import { AppError } from "../../shared/errors.ts";
import { hasOwnLimits } from "./has-own-limits.ts";
import { rateStoreOn } from "./rate-store.ts";
import { whenClosed } from "../when-closed.ts";

export interface RequestLimits {
  /** Requests per minute of an entity; its projects and keys may send a fraction. */
  readonly maxPerMinute: number;
  /** Limiter of open requests, except those of the gateway. */
  readonly open: FairSemaphore;
  readonly steady: Clock;
}

/**
 * Limits the requests per minute and the concurrent requests of each entity, project and key. Register it before the guard,
 * which puts its check first.
 */
export async function registerRequestLimits(app: FastifyInstance, limits: RequestLimits): Promise<void> {
  await app.register(rateLimit, { global: false, store: rateStoreOn(limits.steady), timeWindow: 60_000 });
  // requests rejected for a key do not count for its project, nor those of a project for its entity
  const levels = (["key", "project", "entity"] as const).map((level, at) => ({
    level,
    check: app.createRateLimit({
      max: Math.ceil(limits.maxPerMinute * MAX_FREE_FRACTION ** (2 - at)),
      keyGenerator: ({ grant }) =>
        levelsOf(grant.tenant)
          .slice(0, 3 - at)
          .join(" "),
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
        "Too many open requests of this key or its project (KEY_MAX_CONCURRENT). Retry later.",
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
