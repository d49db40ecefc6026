import type { FastifyInstance, FastifyReply } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { readAccess } from "../../http/auth/guard.ts";
import type { Engine } from "../../store/engine.ts";
import { abortOnClose, whenClosed } from "../../http/when-closed.ts";
import { bodyOf } from "../../http/chunks.ts";
import type { Project } from "../../shared/project.ts";
import { ByteWriter } from "./bytes/byte-writer.ts";
import { LlmDictionary } from "../table/llm-dictionary.ts";
import { planCallIds, planCalls, type CallsPlan } from "../plan.ts";
import { readCalls } from "../read-calls.ts";
import { NO_MORE_COLUMNS } from "../table/more-columns.ts";
import { AppError } from "../../shared/errors.ts";
import type { CostOf } from "../../prices/cost-of-call.ts";
import { schemas } from "./route-schemas.ts";
import { streamTraceUsage } from "./stream-trace-usage.ts";

export interface TraceUsageDeps {
  readonly engine: Engine;
  /** Maximum calls per response. */
  readonly maxTraceCalls: number;
  /** Reads the prices of a project. */
  readonly costsFor: (project: Project) => Promise<CostOf>;
}

const config = { access: readAccess, tag: "usage" };

/** Registers the routes that return usage and costs of calls. */
export async function traceUsageRoutes(root: FastifyInstance, deps: TraceUsageDeps): Promise<void> {
  const app = root.withTypeProvider<ZodTypeProvider>();
  app.post("/trace/usage", { config, schema: schemas.traceUsage }, async (request, reply) => {
    const { project_id, include_costs, full_costs, own_only, ...selected } = request.body;
    const project = request.grant.project(project_id);
    const plan = planCalls(project, selected);
    return sendUsage(reply, plan, { deps, requested: { include_costs, full_costs, own_only } });
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
}

async function sendUsage(
  reply: FastifyReply,
  plan: CallsPlan,
  { deps, requested }: SendOptions,
): Promise<FastifyReply> {
  const { engine, maxTraceCalls: maxCalls } = deps;
  const names = new LlmDictionary();
  const signal = abortOnClose(reply);
  const tooMany = (what: string): AppError => tooManyCalls(what, maxCalls);
  const [found, costOf] = await Promise.all([
    readCalls(engine, plan, { names, columns: NO_MORE_COLUMNS, maxCalls, tooMany, signal }),
    requested.include_costs ? deps.costsFor(plan.project) : undefined,
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
  });
  void reply.type("application/json; charset=utf-8").header("x-truncated", String(found.truncated));
  return reply.send(await bodyOf(chunks));
}

function tooManyCalls(what: string, maxCalls: number): AppError {
  return new AppError(
    "too_many_calls",
    `The selected traces have ${what}; one response reads at most ${maxCalls}. Select fewer traces.`,
  );
}
