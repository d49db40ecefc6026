import type { FastifyInstance } from "fastify";
import { collectDefaultMetrics, type Registry } from "prom-client";
import { readAccess } from "../auth/guard.ts";
import { AppError } from "../shared/errors.ts";

/**
 * `/metrics`, for Prometheus: the process's own figures and whatever the features put into the registry. They are
 * about all projects, and so must the key be.
 */
export function registerMetricsRoute(app: FastifyInstance, registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  app.get("/metrics", { config: { access: readAccess } }, async ({ grant }, reply) => {
    if (!grant.covers("*")) throw new AppError("forbidden", "This needs a key for all projects.");
    return reply.type(registry.contentType).send(await registry.metrics());
  });
}
