import type { FastifyInstance } from "fastify";
import { collectDefaultMetrics, Gauge, type Registry } from "prom-client";
import { z } from "zod";
import { readAccess } from "./auth/guard.ts";
import { AppError } from "../shared/errors.ts";
import { VERSION } from "../version.ts";

/** Adds `/metrics` for Prometheus: metrics of the process and of features. They cover all projects, so the key must too. */
export function registerMetricsRoute(app: FastifyInstance, registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: "sumtree_build_info",
    help: "1, with the version that runs",
    labelNames: ["version"],
    registers: [registry],
  }).set({ version: VERSION }, 1);
  const options = { config: { access: readAccess }, exposeHeadRoute: true, schema: metricsSchema };
  app.get("/metrics", options, async ({ grant }, reply) => {
    if (!grant.covers("*")) throw new AppError("forbidden", "This needs a key for all projects.");
    return reply.type(registry.contentType).send(await registry.metrics());
  });
}

const metricsSchema = {
  operationId: "metrics",
  summary: "Metrics for Prometheus",
  description: "The metrics cover all projects, so the key must too.",
  success: "Metrics in Prometheus text format",
  response: { 200: { content: { "text/plain": { schema: z.string() } } } },
};
