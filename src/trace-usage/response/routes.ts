import type { FastifyInstance, FastifyReply } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { readAccess } from "../../http/auth/guard.ts";
import type { Engine } from "../../store/engine.ts";
import { abortOnClose, whenClosed } from "../../http/when-closed.ts";
import { bodyOf } from "../../http/chunks.ts";
import { callsFilter, callsQuery, type SelectionLimits } from "../../query/index.ts";
import type { Sql } from "../../query/sql.ts";
import type { Project } from "../../shared/project.ts";
import { ByteWriter } from "./bytes/byte-writer.ts";
import { LlmDictionary } from "../table/llm-dictionary.ts";
import { planCallIds, planCalls, type CallsPlan, type QueryPlan } from "../plan.ts";
import { countWithoutRoot } from "../read/count-without-root.ts";
import { NO_MORE_COLUMNS, readCalls, type FoundCalls } from "../read-calls.ts";
import { AppError } from "../../shared/errors.ts";
import type { CostOf } from "../../prices/cost-of-call.ts";
import { includeCosts, fullCosts, limit, ownOnly } from "./schema.ts";
import { schemas } from "./route-schemas.ts";
import { streamTraceUsage, type UsageSize } from "./stream-trace-usage.ts";

export interface TraceUsageDeps {
  readonly engine: Engine;
  /** Maximum calls per response. */
  readonly maxTraceCalls: number;
  readonly selectionLimits: SelectionLimits;
  /** Reads the prices of a project. */
  readonly costsFor: (project: Project) => Promise<CostOf>;
  /** Called with the size of each completed response. */
  readonly onRead: (size: UsageSize) => void;
}

const config = { access: readAccess, tag: "usage" };

/** Registers the routes that return usage and costs of calls. */
export async function traceUsageRoutes(root: FastifyInstance, deps: TraceUsageDeps): Promise<void> {
  const app = root.withTypeProvider<ZodTypeProvider>();
  const traceUsageReq = z
    .strictObject({
      project_id: z.string(),
      filter: callsFilter(deps.selectionLimits).nullish(),
      query: callsQuery(deps.selectionLimits).nullish(),
      include_costs: includeCosts,
      full_costs: fullCosts,
      own_only: ownOnly,
      limit,
    })
    .meta({
      examples: [
        { project_id: "acme/demo", filter: { trace_roots_only: true }, include_costs: true },
        {
          project_id: "acme/demo",
          query: { $expr: { $gt: [{ $getField: "summary.weave.latency_ms" }, { $literal: 5000 }] } },
        },
      ],
    });

  const schema = { ...schemas.traceUsage, body: traceUsageReq };
  app.post("/trace/usage", { config, schema }, async (request, reply) => {
    const { project_id, include_costs, full_costs, own_only, ...selected } = request.body;
    const project = request.grant.project(project_id);
    const plan = planCalls(project, selected, deps.selectionLimits);
    const { withoutRoot } = plan;
    const requested = { include_costs, full_costs, own_only };
    return sendUsage(reply, plan, { deps, requested, withoutRoot });
  });

  app.post("/calls/usage", { config, schema: schemas.callsUsage }, async (request, reply) => {
    const { project_id, call_ids, limit, ...requested } = request.body;
    const project = request.grant.project(project_id);
    const plan = planCallIds(project, call_ids, limit);
    return sendUsage(reply, plan, { deps, requested });
  });
}

interface SendOptions {
  readonly deps: TraceUsageDeps;
  readonly requested: {
    readonly include_costs: boolean;
    readonly full_costs: boolean;
    readonly own_only: boolean;
  };
  /** SQL that counts traces without a root, for the response header. */
  readonly withoutRoot?: Sql;
}

async function sendUsage(
  reply: FastifyReply,
  plan: CallsPlan,
  { deps, requested, withoutRoot }: SendOptions,
): Promise<FastifyReply> {
  const { engine, maxTraceCalls: maxCalls } = deps;
  const names = new LlmDictionary();
  const signal = abortOnClose(reply);
  const tooMany = (what: string): AppError => tooManyCalls(what, maxCalls);
  const reading = readCalls(engine, plan, { names, columns: NO_MORE_COLUMNS, maxCalls, tooMany, signal });
  const [found, costOf, lackingRoot] = await Promise.all([
    reading,
    requested.include_costs ? deps.costsFor(plan.project) : undefined,
    withoutRoot && tracesWithoutRoot(engine, { ...plan, withoutRoot }, { reading, signal }),
  ]);
  const writer = new ByteWriter();
  whenClosed(reply.raw, () => {
    if (reply.raw.writableFinished) writer.release();
  });
  const chunks = streamTraceUsage(found, {
    names,
    writer,
    costOf,
    ownOnly: requested.own_only,
    printed: requested.full_costs ? "all" : "tokens",
    onRead: deps.onRead,
  });
  void reply.type("application/json; charset=utf-8").header("x-truncated", String(found.truncated));
  if (lackingRoot !== undefined) void reply.header("x-traces-without-root", String(lackingRoot));
  return reply.send(await bodyOf(chunks));
}

/** Counts traces without a root: 0 if a single read shows it, otherwise by a concurrent statement. */
async function tracesWithoutRoot(
  engine: Engine,
  { strategy, withoutRoot }: QueryPlan,
  { reading, signal }: { readonly reading: Promise<FoundCalls<undefined>>; readonly signal: AbortSignal },
): Promise<number> {
  const readsAll = strategy.kind === "one trace" || (strategy.kind === "short window" && strategy.isWhole);
  if (readsAll && (await reading).allHaveRoots) return 0;
  return countWithoutRoot(engine, withoutRoot, signal);
}

function tooManyCalls(what: string, maxCalls: number): AppError {
  return new AppError(
    "too_many_calls",
    `The selected traces have ${what}; one response reads at most ${maxCalls}. ` +
      "Select fewer traces or raise MAX_TRACE_CALLS.",
  );
}
