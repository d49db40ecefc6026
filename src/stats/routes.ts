import type { FastifyInstance, FastifyReply } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { readAccess } from "../http/auth/guard.ts";
import { asCsv, wantsCsv } from "../http/csv.ts";
import { JSON_TYPE } from "../http/json-text.ts";
import { bodyOf } from "../http/chunks.ts";
import { abortOnClose } from "../http/when-closed.ts";
import type { PriceBook } from "../prices/price-book.ts";
import type { SelectionLimits } from "../query/index.ts";
import { inTurns } from "../fairness/turns.ts";
import type { Steps } from "../shared/steps.ts";
import type { Clock } from "../shared/clock.ts";
import type { Project } from "../shared/project.ts";
import type { Engine } from "../store/engine.ts";
import { usageStatsRequest } from "./schema.ts";
import { schemas } from "./route-schemas.ts";
import { planGroups, planStats, type PlanSettings } from "./plan/plan-stats.ts";
import type { WindowLimits } from "./read/read-window.ts";
import { sumWindow } from "./sum-window.ts";
import type { StatsFold } from "./sums/stats-fold.ts";
import type { SumTraces } from "./sum-traces.ts";
import type { ProviderOf } from "./sums/window-fold.ts";
import { printResponse } from "./response/print-response.ts";
import { printCsv } from "./response/print-csv.ts";

export interface UsageStatsDeps {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly selectionLimits: SelectionLimits;
  readonly maxPercentiles: number;
  /** Maximum number of calls read for one response, and of its aggregates. */
  readonly maxCalls: number;
  readonly maxAggregates: number;
  /** Returns the prices of a project. */
  readonly bookFor: (project: Project) => Promise<PriceBook>;
  readonly providerOf: ProviderOf;
  readonly sumTraces: SumTraces;
}

/** Routes for usage and cost over local time, by any dimension. */
export async function usageStatsRoutes(root: FastifyInstance, deps: UsageStatsDeps): Promise<void> {
  const app = root.withTypeProvider<ZodTypeProvider>();
  const { engine, selectionLimits, maxPercentiles, maxCalls, maxAggregates, clock, bookFor, providerOf } =
    deps;
  const limits = { selection: selectionLimits, maxPercentiles };
  const config = { access: readAccess, tag: "usage" };

  const stats = { ...schemas.usageStats, body: usageStatsRequest(limits) };
  app.post("/usage/stats", { config, schema: stats }, async (request, reply) => {
    const project = request.grant.project(request.body.project_id);
    const settings: PlanSettings = { selectionLimits, nowMs: clock.now() };
    const groups = planGroups(request.body, settings);
    const reading: WindowLimits = { maxCalls, signal: abortOnClose(reply) };
    const summed = async (): Promise<StatsFold> => {
      if (groups.of === "traces")
        return deps.sumTraces({ ...deps, ...reading }, { project, request: request.body, groups }, settings);
      const plan = planStats(project, request.body, groups, settings);
      const book = plan.withCosts ? await bookFor(project) : undefined;
      return sumWindow(engine, { plan, book, providerOf, maxAggregates }, reading);
    };
    const fold = await summed();
    if (wantsCsv(request)) return send(asCsv(reply, "usage-stats.csv"), printCsv(fold, groups));
    return send(reply.type(JSON_TYPE), printResponse(fold, groups));
  });
}

async function send(reply: FastifyReply, texts: Iterator<string>): Promise<FastifyReply> {
  return reply.send(await bodyOf(inChunks(texts)));
}

const CHUNK_CHARS = 256 * 1024;

/** Encodes chunks of text, batched to the size of a response chunk. */
async function* inChunks(texts: Iterator<string>): AsyncGenerator<Buffer> {
  for (;;) {
    const chunk = await inTurns(gather(texts));
    yield Buffer.from(chunk);
    if (chunk.length < CHUNK_CHARS) return;
  }
}

function* gather(texts: Iterator<string>): Steps<string> {
  let chunk = "";
  for (let text = texts.next(); text.done !== true; text = texts.next()) {
    chunk += text.value;
    if (chunk.length >= CHUNK_CHARS) break;
    yield;
  }
  return chunk;
}
