import type { FastifyInstance, FastifyReply } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { readAccess } from "../http/auth/guard.ts";
import { asCsv, wantsCsv } from "../http/csv.ts";
import { JSON_TYPE } from "../http/json-text.ts";
import { bodyOf } from "../http/chunks.ts";
import { abortOnClose } from "../http/when-closed.ts";
import { pacer } from "../fairness/turns.ts";
import type { Clock } from "../shared/clock.ts";
import { usageStatsRequest } from "./schema.ts";
import { schemas } from "./route-schemas.ts";
import { planStats } from "./plan/plan-stats.ts";
import { sumCalls, type StatsDeps } from "./sum-calls.ts";
import { sumTraces } from "./sum-traces.ts";
import { printResponse } from "./response/print-response.ts";
import { printCsv } from "./response/print-csv.ts";

export interface UsageStatsDeps extends StatsDeps {
  readonly clock: Clock;
  readonly maxPercentiles: number;
}

/** Routes for usage and cost over local time, by any dimension. */
export async function usageStatsRoutes(root: FastifyInstance, deps: UsageStatsDeps): Promise<void> {
  const app = root.withTypeProvider<ZodTypeProvider>();
  const config = { access: readAccess, tag: "usage" };
  const stats = { ...schemas.usageStats, body: usageStatsRequest(deps.maxPercentiles) };
  app.post("/usage/stats", { config, schema: stats }, async (request, reply) => {
    const project = request.grant.project(request.body.project_id);
    const nowMs = deps.clock.now();
    const plan = planStats(request.body, nowMs);
    const sum = plan.of === "traces" ? sumTraces : sumCalls;
    const signal = abortOnClose(reply);
    const fold = await sum(deps, { project, request: request.body, plan, nowMs, signal });
    if (wantsCsv(request)) return send(asCsv(reply, "usage-stats.csv"), printCsv(fold, plan));
    return send(reply.type(JSON_TYPE), printResponse(fold, plan));
  });
}

async function send(reply: FastifyReply, texts: Iterable<string>): Promise<FastifyReply> {
  return reply.send(await bodyOf(inChunks(texts)));
}

const CHUNK_CHARS = 256 * 1024;

/** Encodes chunks of text, batched to the size of a response chunk. An empty one is a pause. */
async function* inChunks(texts: Iterable<string>): AsyncGenerator<Buffer> {
  const pause = pacer();
  let chunk = "";
  for (const text of texts) {
    chunk += text;
    const wait = pause();
    if (wait !== undefined) await wait;
    if (chunk.length < CHUNK_CHARS) continue;
    yield Buffer.from(chunk);
    chunk = "";
  }
  yield Buffer.from(chunk);
}
