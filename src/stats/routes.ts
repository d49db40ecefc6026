import type { FastifyInstance, FastifyReply } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { readAccess } from "../http/auth/guard.ts";
import type { Engine } from "../store/engine.ts";
import { abortOnClose } from "../http/when-closed.ts";
import { asCsv, wantsCsv } from "../http/csv.ts";
import { JSON_TYPE } from "../http/json-text.ts";
import { bodyOf } from "../http/pieces.ts";
import type { SelectionLimits } from "../query/index.ts";
import type { CostOf } from "../prices/cost-of-call.ts";
import type { PriceBook } from "../prices/price-book.ts";
import { LlmNames } from "../rollup/table/llm-names.ts";
import type { Clock } from "../shared/clock.ts";
import type { Project } from "../shared/project.ts";
import { printAnswer } from "./answer.ts";
import { printCallsStats } from "./calls-stats/answer.ts";
import { CallsFold } from "./calls-stats/calls-fold.ts";
import { planCallsStats, type CallsStatsPlan } from "./calls-stats/plan.ts";
import { callsStatsRequest, callsStatsResponse } from "./calls-stats/schema.ts";
import { printCsv } from "./csv.ts";
import { askLedger } from "./ledger/ask-ledger.ts";
import { LookMemory } from "./ledger/look-memory.ts";
import { planStats, type PlanSettings, type StatsPlan, type WindowPlan } from "./plan.ts";
import { foldTraces, foldWindow } from "./read-window.ts";
import { usageStatsRequest, usageStatsResponse } from "./schema.ts";
import { WindowFold, type ProviderOf } from "./window-fold.ts";

export interface UsageStatsDeps {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly selectionLimits: SelectionLimits;
  readonly maxPercentiles: number;
  /** The most calls that are read for one answer, and the most sums that are kept for it. */
  readonly maxCalls: number;
  readonly maxCells: number;
  /** The prices that hold for a project. */
  readonly bookFor: (project: Project) => Promise<PriceBook>;
  readonly providerOf: ProviderOf;
}

/** What was used and spent, by anything, over local time; and the same as the Weave SDKs ask for it. */
export async function usageStatsRoutes(root: FastifyInstance, deps: UsageStatsDeps): Promise<void> {
  const app = root.withTypeProvider<ZodTypeProvider>();
  const { selectionLimits, maxPercentiles, maxCalls, clock } = deps;
  const limits = { selection: selectionLimits, maxPercentiles };
  const config = { access: readAccess };
  const settings = (): PlanSettings => ({ selectionLimits, maxCalls, nowMs: clock.now() });

  const memory = new LookMemory(deps.engine);
  const stats = { body: usageStatsRequest(limits), response: { 200: usageStatsResponse } };
  app.post("/usage/stats", { config, schema: stats }, async (request, reply) => {
    const project = request.grant.project(request.body.project_id);
    const plan = planStats(project, request.body, settings());
    const fold = await foldStats(reply, plan, { ...deps, memory });
    if (wantsCsv(request)) return send(asCsv(reply, "usage-stats.csv"), printCsv(fold, plan));
    return send(reply.type(JSON_TYPE), printAnswer(fold, plan));
  });

  const calls = { body: callsStatsRequest(limits), response: { 200: callsStatsResponse } };
  app.post("/calls/stats", { config, schema: calls }, async (request, reply) => {
    const project = request.grant.project(request.body.project_id);
    return sendCallsStats(reply, planCallsStats(project, request.body, settings()), deps);
  });
}

/** Adds up all calls of a window: what the ledger has of it as it is there, the others live. */
async function foldStats(
  reply: FastifyReply,
  plan: StatsPlan,
  deps: UsageStatsDeps & { readonly memory: LookMemory },
): Promise<WindowFold> {
  const { engine, providerOf, maxCells, maxCalls, memory } = deps;
  const signal = abortOnClose(reply);
  const reading = plan.withCosts ? deps.bookFor(plan.selection.project) : Promise.resolve(undefined);
  const [book, found] = await Promise.all([
    reading,
    askLedger(engine, { plan, book: reading, memory, signal }),
  ]);
  const names = new LlmNames();
  const fold = new WindowFold({ plan, names, book, providerOf, maxCells });
  const window = { plan, names, fold };
  if (found === undefined) await foldWindow(engine, window, { maxCalls, signal });
  else {
    fold.addLedger(found.cells);
    await foldTraces(engine, window, found.traces, { maxCalls, signal });
  }
  return fold;
}

async function sendCallsStats(
  reply: FastifyReply,
  plan: CallsStatsPlan,
  deps: UsageStatsDeps,
): Promise<FastifyReply> {
  const { engine, maxCells, maxCalls } = deps;
  const names = new LlmNames();
  const fold = new CallsFold({ plan, names, costOf: await costsOf(plan, deps), maxCells });
  await foldWindow(engine, { plan, names, fold }, { maxCalls, signal: abortOnClose(reply) });
  return send(reply.type(JSON_TYPE), printCallsStats(fold, plan));
}

async function send(reply: FastifyReply, texts: Iterable<string>): Promise<FastifyReply> {
  return reply.send(await bodyOf(inPieces(texts)));
}

async function costsOf(plan: WindowPlan, deps: UsageStatsDeps): Promise<CostOf | undefined> {
  if (!plan.withCosts) return undefined;
  const book = await deps.bookFor(plan.selection.project);
  return (usage, startedAtUs) => book.cost(usage.llm, startedAtUs, usage);
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
