import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { selectionHash } from "../http/page-token.ts";
import { readAccess } from "../http/auth/guard.ts";
import { sendJsonText } from "../http/json-text.ts";
import { abortOnClose } from "../http/when-closed.ts";
import type { PriceBook } from "../prices/price-book.ts";
import type { Clock } from "../shared/clock.ts";
import type { Project } from "../shared/project.ts";
import type { ProviderOf } from "../usage/usage.ts";
import type { Engine } from "../store/engine.ts";
import { answerFacets } from "./facets/answer-facets.ts";
import { tracesFacetsRequest } from "./facets/schema.ts";
import { answerList } from "./list/answer-list.ts";
import { readPageToken } from "./list/order.ts";
import { tracesQueryRequest } from "./list/schema.ts";
import { planTraces } from "./plan/plan-traces.ts";
import { schemas } from "./route-schemas.ts";

export interface TraceListDeps {
  readonly engine: Engine;
  readonly clock: Clock;
  /** Maximum number of calls and of traces read for one response. */
  readonly maxCalls: number;
  readonly maxTraces: number;
  /** Returns the prices of a project. */
  readonly bookFor: (project: Project) => Promise<PriceBook>;
  readonly providerOf: ProviderOf;
}

/** Routes for lists of traces. */
export async function traceListRoutes(root: FastifyInstance, deps: TraceListDeps): Promise<void> {
  const app = root.withTypeProvider<ZodTypeProvider>();
  const { clock, bookFor } = deps;
  const config = { access: readAccess, tag: "usage" };

  const list = { ...schemas.tracesQuery, body: tracesQueryRequest };
  app.post("/traces/query", { config, schema: list }, async (request, reply) => {
    const { project_id, order_by: order, direction, limit, page_token, ...selection } = request.body;
    const project = request.grant.project(project_id);
    const { start, end, filter, query, any_call, totals } = selection;
    const digest = selectionHash([project_id, start, end, filter, query, any_call, totals, order, direction]);
    const place = page_token == null ? undefined : readPageToken(page_token, digest);
    const window = { ...selection, end: place?.endUs ?? end };
    const plan = planTraces(project, window, clock.now());
    const signal = abortOnClose(reply);
    const page = { order, direction, after: place?.last, limit };
    const book = await bookFor(project);
    return sendJsonText(reply, await answerList({ ...deps, book, signal }, plan, { page, digest }));
  });

  const facets = { ...schemas.tracesFacets, body: tracesFacetsRequest };
  app.post("/traces/facets", { config, schema: facets }, async (request, reply) => {
    const { project_id, ...requested } = request.body;
    const project = request.grant.project(project_id);
    const signal = abortOnClose(reply);
    const book = await bookFor(project);
    const asked = { project, requested, nowMs: clock.now() };
    return sendJsonText(reply, await answerFacets({ ...deps, book, signal }, asked));
  });
}
