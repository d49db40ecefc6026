import type { FastifyInstance, FastifyReply } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { readAccess } from "../auth/guard.ts";
import type { Engine } from "../clickhouse/engine.ts";
import { abortOnClose } from "../http/when-closed.ts";
import { JSON_TYPE } from "../http/json-text.ts";
import { bodyOf } from "../http/pieces.ts";
import type { SelectionLimits } from "../query/index.ts";
import type { CostOf } from "../rollup/fold/rollup.ts";
import { LlmNames } from "../rollup/table/llm-names.ts";
import type { Clock } from "../shared/clock.ts";
import type { Project } from "../shared/project.ts";
import { printAnswer } from "./answer.ts";
import { planStats, type StatsPlan } from "./plan.ts";
import { foldWindow } from "./read-window.ts";
import { usageStatsRequest, usageStatsResponse } from "./schema.ts";
import { WindowFold } from "./window-fold.ts";

export interface UsageStatsDeps {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly selectionLimits: SelectionLimits;
  readonly maxPercentiles: number;
  /** The most calls that are read for one answer, and the most sums that are kept for it. */
  readonly maxCalls: number;
  readonly maxCells: number;
  /** The prices that hold for a project. */
  readonly costsFor: (project: Project) => Promise<CostOf>;
  /** Who sells an LLM. */
  readonly providerOf: (llm: string) => string | null;
}

/** What was used and spent, by anything, over local time. */
export async function usageStatsRoutes(root: FastifyInstance, deps: UsageStatsDeps): Promise<void> {
  const app = root.withTypeProvider<ZodTypeProvider>();
  const { selectionLimits, maxPercentiles, maxCalls, clock } = deps;
  const body = usageStatsRequest({ selection: selectionLimits, maxPercentiles });
  const schema = { body, response: { 200: usageStatsResponse } };

  app.post("/usage/stats", { config: { access: readAccess }, schema }, async (request, reply) => {
    const project = request.grant.project(request.body.project_id);
    const plan = planStats(project, request.body, { selectionLimits, maxCalls, nowMs: clock.now() });
    return sendStats(reply, plan, deps);
  });
}

async function sendStats(reply: FastifyReply, plan: StatsPlan, deps: UsageStatsDeps): Promise<FastifyReply> {
  const { engine, providerOf, maxCells, maxCalls } = deps;
  const names = new LlmNames();
  const costOf = plan.withCosts ? await deps.costsFor(plan.selection.project) : undefined;
  const fold = new WindowFold({ plan, names, costOf, providerOf, maxCells });
  await foldWindow(engine, fold, { plan, names }, { maxCalls, signal: abortOnClose(reply) });
  return reply.type(JSON_TYPE).send(await bodyOf(inPieces(printAnswer(fold, plan))));
}

const PIECE_CHARS = 256 * 1024;

/** Texts as bytes, as many at once as are worth sending. */
async function* inPieces(texts: Iterable<string>): AsyncGenerator<Buffer> {
  let piece = "";
  for (const text of texts) {
    piece += text;
    if (piece.length < PIECE_CHARS) continue;
    yield Buffer.from(piece);
    piece = "";
  }
  yield Buffer.from(piece);
}
