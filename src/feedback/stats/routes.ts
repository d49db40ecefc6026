import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { readAccess, type Access } from "../../http/auth/guard.ts";
import type { Engine } from "../../store/engine.ts";
import { abortOnClose } from "../../http/when-closed.ts";
import { asCsv, wantsCsv } from "../../http/csv.ts";
import { sendJsonText } from "../../http/json-text.ts";
import type { Clock } from "../../shared/clock.ts";
import { printCsv } from "./csv.ts";
import { rowsOf } from "./feedback-rows.ts";
import { MAX_PATHS, printPaths, toFoundPath } from "./paths.ts";
import { planStats } from "./plan.ts";
import { printResponse } from "./response.ts";
import { statsRequest, type StatsLimits } from "./schema.ts";
import { schemas } from "./route-schemas.ts";
import { fillSeries } from "./series.ts";
import { readPaths, readStats, type StatsReading } from "./store.ts";

export interface FeedbackStatsDeps extends Pick<StatsReading, "providerOf" | "maxCalls"> {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly limits: StatsLimits;
}

const basicOnly = { schemes: ["basic"], scope: "read" } as const satisfies Access;

/** Registers the routes for statistics of feedback over time, and for the paths they can use. */
export async function feedbackStatsRoutes(root: FastifyInstance, deps: FeedbackStatsDeps): Promise<void> {
  const app = root.withTypeProvider<ZodTypeProvider>();

  const stats = {
    config: { access: basicOnly, tag: "feedback" },
    schema: { ...schemas.feedbackStats, body: statsRequest(deps.limits) },
  };
  app.post("/feedback/stats", stats, async (request, reply) => {
    const project = request.grant.project(request.body.project_id);
    const plan = planStats(project, request.body, deps.clock.now());
    const { providerOf, maxCalls } = deps;
    const rows = await readStats(deps.engine, plan, { providerOf, maxCalls, signal: abortOnClose(reply) });
    const found = fillSeries(plan, rows);
    if (wantsCsv(request)) return asCsv(reply, "feedback-stats.csv").send(printCsv(plan, found));
    return sendJsonText(reply, printResponse(plan, found));
  });
  const paths = {
    config: { access: readAccess, tag: "feedback" },
    schema: schemas.feedbackPaths,
  };
  app.post("/feedback/payload_schema", paths, async (request, reply) => {
    const { body, grant } = request;
    const rows = rowsOf(grant.project(body.project_id), body, deps.clock.now());
    const found = await readPaths(deps.engine, printPaths(rows, body.sample_limit), abortOnClose(reply));
    void reply.header("x-truncated", String(found.length > MAX_PATHS));
    return { paths: found.slice(0, MAX_PATHS).map(toFoundPath) };
  });
}
