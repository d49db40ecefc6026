import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { readAccess } from "../../http/auth/guard.ts";
import type { Engine } from "../../store/engine.ts";
import { abortOnClose } from "../../http/when-closed.ts";
import { sendJsonText } from "../../http/json-text.ts";
import { NDJSON_TYPE, sendChunks } from "../../http/chunks.ts";
import { windowOf } from "../../http/schemas/window-fields.ts";
import type { Clock } from "../../shared/clock.ts";
import { readFields } from "./fields/read-fields.ts";
import { chunksOf } from "../../shared/chunks-of.ts";
import { isoOf } from "../../shared/instant.ts";
import { turn } from "../../fairness/turns.ts";
import type { Project } from "../../shared/project.ts";
import type { CostOf } from "../../prices/cost-of-call.ts";
import { callText, type CallTextOptions } from "./call-text.ts";
import { callsWithFeedback, type CallAndFeedback, type FeedbackOf } from "./calls-with-feedback.ts";
import { planList, type ListPlan } from "./plan.ts";
import { MAX_LIMIT } from "./schema.ts";
import { schemas } from "./route-schemas.ts";
import { selectKeys } from "./select-keys.ts";
import { countCalls, readListed } from "./store.ts";
import { payloadsOf } from "./stored-call.ts";

export interface CallsQueryDeps {
  readonly engine: Engine;
  readonly clock: Clock;
  /** Reads the prices of a project. */
  readonly costsFor: (project: Project) => Promise<CostOf>;
  readonly feedbackOf: FeedbackOf;
}

/** Earlier than any call. */
const FIRST_US = Date.UTC(1900, 0, 1) * 1000;
const config = { access: readAccess, tag: "calls" };

/** Registers the routes that read and count calls. */
export async function callsQueryRoutes(root: FastifyInstance, deps: CallsQueryDeps): Promise<void> {
  const app = root.withTypeProvider<ZodTypeProvider>();
  const { engine } = deps;

  const read = async (plan: ListPlan, request: ReadOptions) => {
    const { limit, offset, signal } = request;
    const costOf = request.includeCosts === true ? await deps.costsFor(plan.project) : undefined;
    const { keys, truncated, nextPage } = await selectKeys(engine, plan, { limit, offset, signal });
    const payloads = payloadsOf(request.columns);
    const { project } = plan;
    const options = { project, payloads, costOf };
    const feedbackOf = request.includeFeedback === true ? deps.feedbackOf : undefined;
    const pages = readListed(engine, keys, { project, payloads, signal });
    return {
      calls: callsWithFeedback(pages, { project, signal, feedbackOf }),
      options,
      truncated,
      nextPage,
    };
  };

  app.post("/calls/stream_query", { config, schema: schemas.queryCalls }, async (request, reply) => {
    const { project_id, columns, include_costs, include_feedback, limit, offset, ...query } = request.body;
    const plan = planList(request.grant.project(project_id), query);
    const { calls, options, truncated, nextPage } = await read(plan, {
      limit: Math.min(limit ?? MAX_LIMIT, MAX_LIMIT),
      offset: offset ?? 0,
      columns,
      includeCosts: include_costs,
      includeFeedback: include_feedback,
      signal: abortOnClose(reply),
    });
    void reply.header("x-truncated", String(truncated));
    if (nextPage !== undefined) void reply.header("x-next-page-token", nextPage);
    return sendChunks(reply, NDJSON_TYPE, linesOf(calls, options));
  });

  app.post("/call/read", { config, schema: schemas.readCall }, async (request, reply) => {
    const { project_id, id, include_costs } = request.body;
    const plan = planList(request.grant.project(project_id), { filter: { call_ids: [id] } });
    const signal = abortOnClose(reply);
    const { calls, options } = await read(plan, { limit: 1, offset: 0, includeCosts: include_costs, signal });
    const page = await calls.next();
    const call = page.done === true ? undefined : page.value[0];
    const text = call === undefined ? "null" : callText(call, options);
    return sendJsonText(reply, `{"call":${text}}`);
  });

  app.post("/calls/query_stats", { config, schema: schemas.countCalls }, async (request, reply) => {
    const { project_id, ...query } = request.body;
    const plan = planList(request.grant.project(project_id), query);
    return { count: await countCalls(engine, plan, abortOnClose(reply)) };
  });

  app.post("/fields/query", { config, schema: schemas.queryFields }, async (request, reply) => {
    const { project_id, prefix, start, end } = request.body;
    const { startUs, endUs } = windowOf({ start: start ?? FIRST_US, end }, deps.clock.now());
    const bound = (us: number) => [{ $getField: "started_at" }, { $literal: isoOf(us) }];
    const query = { $expr: { $and: [{ $gte: bound(startUs) }, { $lt: bound(endUs) }] } };
    const newest = { query, sort_by: [{ field: "started_at", direction: "desc" }] } as const;
    const plan = planList(request.grant.project(project_id), newest);
    const found = await readFields(engine, plan, { prefix: prefix ?? "", signal: abortOnClose(reply) });
    return sendJsonText(reply, JSON.stringify(found));
  });
}

interface ReadOptions {
  readonly limit: number;
  readonly offset: number;
  readonly columns?: readonly string[] | null | undefined;
  readonly includeCosts: boolean | null | undefined;
  readonly includeFeedback?: boolean | null | undefined;
  readonly signal: AbortSignal;
}

/** Encoding them takes about 5 ms. */
const CALLS_PER_TURN = 200;

/** Encodes calls as NDJSON. */
async function* linesOf(
  pages: AsyncGenerator<readonly CallAndFeedback[]>,
  options: CallTextOptions,
): AsyncGenerator<Buffer> {
  for await (const page of pages) {
    for (const calls of chunksOf(page, CALLS_PER_TURN)) {
      if (page.length > CALLS_PER_TURN) await turn();
      yield Buffer.from(calls.map((call) => `${callText(call, options)}\n`).join(""));
    }
  }
}
