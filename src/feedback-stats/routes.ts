import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import type { Access } from "../auth/guard.ts";
import type { Engine } from "../clickhouse/engine.ts";
import { abortOnClose } from "../http/abort-on-close.ts";
import type { Clock } from "../shared/clock.ts";
import { planStats } from "./plan.ts";
import { printResponse } from "./response.ts";
import { statsRequestSchema, statsResponseSchema } from "./schema.ts";
import { fillSeries } from "./series.ts";
import { readStats } from "./store.ts";

export interface FeedbackStatsDeps {
  readonly engine: Engine;
  readonly clock: Clock;
}

const access = { schemes: ["basic"], scope: "read" } as const satisfies Access;

/** What feedback says over time. */
export async function feedbackStatsRoutes(root: FastifyInstance, deps: FeedbackStatsDeps): Promise<void> {
  const app = root.withTypeProvider<ZodTypeProvider>();
  const schema = { body: statsRequestSchema, response: { 200: statsResponseSchema } };

  app.post("/feedback/stats", { config: { access }, schema }, async (request, reply) => {
    const project = request.grant.project(request.body.project_id);
    const plan = planStats(project, request.body, deps.clock.now());
    const rows = await readStats(deps.engine, plan, abortOnClose(reply));
    void reply.type("application/json; charset=utf-8");
    // `never`: what is sent is the text of the declared answer
    return reply.send(printResponse(plan, fillSeries(plan, rows)) as never);
  });
}
