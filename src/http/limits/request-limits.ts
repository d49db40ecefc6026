import rateLimit from "@fastify/rate-limit";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../../shared/clock.ts";
import type { FairShare } from "../../shares/fair-share.ts";
import { AppError } from "../../shared/errors.ts";
import { rateStoreOn } from "./rate-store.ts";
import { whenClosed } from "../when-closed.ts";

export interface RequestLimits {
  readonly maxPerMinutePerProject: number;
  /** The requests that are open. The gateway has its own. */
  readonly open: FairShare;
  readonly steady: Clock;
}

/** Limits the requests of each project: of a minute, and those that are open. Register it before the guard, which puts its check first. */
export async function registerRequestLimits(app: FastifyInstance, limits: RequestLimits): Promise<void> {
  await app.register(rateLimit, {
    max: limits.maxPerMinutePerProject,
    store: rateStoreOn(limits.steady),
    timeWindow: 60_000,
    keyGenerator: (request) => (isPublic(request) ? "" : request.grant.holder.project),
    allowList: isPublic,
    addHeaders: { "x-ratelimit-limit": false, "x-ratelimit-remaining": false, "x-ratelimit-reset": false },
    addHeadersOnExceeding: {
      "x-ratelimit-limit": false,
      "x-ratelimit-remaining": false,
      "x-ratelimit-reset": false,
    },
    errorResponseBuilder: (_request, { ttl, max }) =>
      new AppError(
        "too_many_requests",
        `All keys of this project may send ${max} requests a minute together.`,
        {
          retryAfterSeconds: retryAfterOf(ttl),
        },
      ),
  });
  const enter = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const held = limits.open.tryTake(request.grant.holder);
    if (held === undefined) {
      throw new AppError(
        "concurrency_limit",
        "Too many requests of this key or its project are open. Try again.",
        {
          retryAfterSeconds: 1,
        },
      );
    }
    whenClosed(reply.raw, () => held.release());
  };
  app.addHook("onRoute", (route) => {
    const access = route.config?.access;
    if (access === undefined || access === "public" || access.scope === "train") return;
    route.onRequest = [...[route.onRequest ?? []].flat(), enter];
  });
}

function isPublic(request: FastifyRequest): boolean {
  return request.routeOptions.config.access === "public";
}

/** Seconds for a `Retry-After`: 1 to 59. */
export function retryAfterOf(ttlMs: number): number {
  return Math.min(Math.max(Math.ceil(ttlMs / 1000), 1), 59);
}
