import type { FastifyInstance } from "fastify";
import { collectDefaultMetrics, type Registry } from "prom-client";
import { readAccess } from "../auth/guard.ts";

/** `/metrics`, for Prometheus: the process's own figures and whatever the features put into the registry. */
export function registerMetricsRoute(app: FastifyInstance, registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  app.get("/metrics", { config: { access: readAccess } }, async (_request, reply) =>
    reply.type(registry.contentType).send(await registry.metrics()),
  );
}
