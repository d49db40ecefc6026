import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { readAccess } from "../http/auth/guard.ts";
import { sendJsonText } from "../http/json-text.ts";
import { abortOnClose } from "../http/when-closed.ts";
import type { PriceBook } from "../prices/price-book.ts";
import type { SelectionLimits } from "../query/index.ts";
import type { Clock } from "../shared/clock.ts";
import type { Project } from "../shared/project.ts";
import type { ProviderOf } from "../stats/sums/window-fold.ts";
import type { Engine } from "../store/engine.ts";
import { responseTraces } from "./response/trace-page.ts";
import { digestOf } from "./response/page-token.ts";
import { readFacets } from "./facets/read-facets.ts";
import { traceFacetsRequest } from "./facets/schema.ts";
import { planTraces } from "./plan/plan-traces.ts";
import { tracesQueryRequest } from "./schema.ts";
import { schemas } from "./route-schemas.ts";

export interface TraceListDeps {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly selectionLimits: SelectionLimits;
  /** Maximum number of calls and of traces read for one response. */
  readonly maxCalls: number;
  readonly maxTraces: number;
  /** Returns the prices of a project. */
  readonly bookFor: (project: Project) => Promise<PriceBook>;
  readonly providerOf: ProviderOf;
}

/** Routes for lists of traces with their totals. */
export async function traceListRoutes(root: FastifyInstance, deps: TraceListDeps): Promise<void> {
  const app = root.withTypeProvider<ZodTypeProvider>();
  const { clock, selectionLimits, bookFor } = deps;
  const config = { access: readAccess, tag: "usage" };
  const settings = () => ({ selectionLimits, nowMs: clock.now() });

  const list = { ...schemas.traceQuery, body: tracesQueryRequest(selectionLimits) };
  app.post("/trace/query", { config, schema: list }, async (request, reply) => {
    const { project_id, include_costs, ...requested } = request.body;
    const project = request.grant.project(project_id);
    const plan = planTraces(project, requested, settings());
    const signal = abortOnClose(reply);
    const book = include_costs ? await bookFor(project) : undefined;
    const { start, filter, query, any, totals, order_by, direction } = requested;
    const digest = digestOf([project_id, start, filter, query, any, totals, order_by, direction]);
    return sendJsonText(
      reply,
      await responseTraces({ ...deps, book, signal }, { plan, query: requested, digest }),
    );
  });

  const facets = { ...schemas.traceFacets, body: traceFacetsRequest(selectionLimits) };
  app.post("/trace/facets", { config, schema: facets }, async (request, reply) => {
    const plan = planTraces(request.grant.project(request.body.project_id), request.body, settings());
    return readFacets(deps.engine, plan, { requested: request.body, signal: abortOnClose(reply) });
  });
}
