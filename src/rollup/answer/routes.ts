import type { FastifyInstance, FastifyReply } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { readAccess } from "../../http/auth/guard.ts";
import type { Engine } from "../../store/engine.ts";
import { abortOnClose, whenClosed } from "../../http/when-closed.ts";
import { bodyOf } from "../../http/pieces.ts";
import { callsFilter, callsQuery, type SelectionLimits } from "../../query/index.ts";
import type { Project } from "../../shared/project.ts";
import { ByteWriter } from "./bytes/byte-writer.ts";
import { LlmNames } from "../table/llm-names.ts";
import { planCallIds, planCalls, type CallsPlan } from "../plan.ts";
import { NO_MORE_COLUMNS, readCalls } from "../read-calls.ts";
import { AppError } from "../../shared/errors.ts";
import type { CostOf } from "../../prices/cost-of-call.ts";
import { callsUsageReq, includeCosts, limit, ownOnly, traceUsageRes } from "./schema.ts";
import { streamAnswer, type UsageSize } from "./stream-answer.ts";

export interface TraceUsageDeps {
  readonly engine: Engine;
  /** The most calls that are read for one answer. */
  readonly maxTraceCalls: number;
  readonly selectionLimits: SelectionLimits;
  /** The prices that hold for a project. */
  readonly costsFor: (project: Project) => Promise<CostOf>;
  /** Hears how much was read for an answer that is complete. */
  readonly onRead: (size: UsageSize) => void;
}

const config = { access: readAccess };
// Described, not used: the text is written by hand and sent as bytes.
const response = { 200: traceUsageRes };

/** What every call of a trace really used and cost. */
export async function traceUsageRoutes(root: FastifyInstance, deps: TraceUsageDeps): Promise<void> {
  const app = root.withTypeProvider<ZodTypeProvider>();
  const traceUsageReq = z
    .strictObject({
      project_id: z.string(),
      filter: callsFilter(deps.selectionLimits).nullish(),
      query: callsQuery(deps.selectionLimits).nullish(),
      include_costs: includeCosts,
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

  app.post("/trace/usage", { config, schema: { body: traceUsageReq, response } }, async (request, reply) => {
    const { project_id, include_costs, own_only, ...selected } = request.body;
    const project = request.grant.project(project_id);
    const plan = planCalls(project, selected, deps.selectionLimits);
    return sendUsage(reply, plan, { deps, includeCosts: include_costs, ownOnly: own_only });
  });

  app.post("/calls/usage", { config, schema: { body: callsUsageReq, response } }, async (request, reply) => {
    const { project_id, call_ids, limit, include_costs, own_only } = request.body;
    const project = request.grant.project(project_id);
    const plan = planCallIds(project, call_ids, limit);
    return sendUsage(reply, plan, { deps, includeCosts: include_costs, ownOnly: own_only });
  });
}

async function sendUsage(
  reply: FastifyReply,
  plan: CallsPlan,
  { deps, includeCosts, ownOnly }: { deps: TraceUsageDeps; includeCosts: boolean; ownOnly: boolean },
): Promise<FastifyReply> {
  const { engine, maxTraceCalls: maxCalls } = deps;
  const names = new LlmNames();
  const signal = abortOnClose(reply);
  const tooMany = (what: string): AppError => tooManyCalls(what, maxCalls);
  const [found, costOf] = await Promise.all([
    readCalls(engine, plan, { names, columns: NO_MORE_COLUMNS, maxCalls, tooMany, signal }),
    includeCosts ? deps.costsFor(plan.project) : undefined,
  ]);
  const writer = new ByteWriter();
  whenClosed(reply.raw, () => {
    if (reply.raw.writableFinished) writer.release();
  });
  const pieces = streamAnswer(found, { names, writer, costOf, ownOnly, onRead: deps.onRead });
  void reply.type("application/json; charset=utf-8").header("x-truncated", String(found.truncated));
  return reply.send(await bodyOf(pieces));
}

function tooManyCalls(what: string, maxCalls: number): AppError {
  return new AppError(
    "too_many_calls",
    `The selected traces have ${what}; one answer reads at most ${maxCalls}. ` +
      "Select fewer traces, or raise MAX_TRACE_CALLS.",
  );
}
