import compress from "@fastify/compress";
import Fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { constants } from "node:zlib";
import { registerGuard } from "./auth/guard.ts";
import { createKeyRing } from "./auth/key-ring.ts";
import { createKeyStore } from "./auth/key-store.ts";
import { createCallWriter } from "./calls/call-writer.ts";
import { createTraceLookup } from "./calls/trace-lookup.ts";
import type { Engine } from "./clickhouse/engine.ts";
import type { Config } from "./config.ts";
import { costRoutes } from "./costs/routes.ts";
import { feedbackRoutes } from "./feedback/routes.ts";
import { createFeedbackWriter } from "./feedback/feedback-writer.ts";
import { feedbackStatsRoutes } from "./feedback-stats/routes.ts";
import { registerErrorHandling } from "./http/errors.ts";
import { registerHealth } from "./http/health.ts";
import { registerJsonBody } from "./http/json-body.ts";
import { registerRequestId, requestIdOf } from "./http/request-id.ts";
import { registerValidation } from "./http/validation.ts";
import { ingestRoutes } from "./ingest/routes.ts";
import { createPriceStore } from "./prices/price-store.ts";
import { createPrices } from "./prices/prices.ts";
import { systemClock, type Clock } from "./shared/clock.ts";
import { traceUsageRoutes } from "./trace-usage/routes.ts";

export interface Deps {
  /** A migrated store. `buildApp` does not close it. */
  readonly engine: Engine;
  readonly rootKey: string;
  readonly logger: FastifyBaseLogger;
  readonly clock?: Clock;
}

export type App = FastifyInstance;

/** The whole service as one Fastify instance. The process, the tests, the bench and the scripts all call this. */
export async function buildApp(config: Config, deps: Deps): Promise<App> {
  const clock = deps.clock ?? systemClock;
  const app = Fastify({
    loggerInstance: deps.logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "request_id" }),
    genReqId: requestIdOf,
    requestIdHeader: false,
    bodyLimit: config.BODY_LIMIT_BYTES,
    routerOptions: { maxParamLength: 1024, ignoreTrailingSlash: true },
    forceCloseConnections: "idle",
    // training bodies of a gigabyte take their time; the gateway ends uploads that stall
    requestTimeout: 1_200_000,
    exposeHeadRoutes: false,
  }).withTypeProvider<ZodTypeProvider>();

  registerRequestId(app);
  registerJsonBody(app);
  registerValidation(app);
  registerErrorHandling(app);
  await app.register(compress, {
    encodings: ["br", "gzip", "deflate", "identity"],
    requestEncodings: ["gzip", "deflate", "identity"],
    brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } },
    zlibOptions: { level: 1 },
  });
  const keyStore = createKeyStore(deps.engine);
  const keyRing = createKeyRing(keyStore, deps.rootKey, clock);
  await registerGuard(app, keyRing);

  const priceStore = createPriceStore(deps.engine);
  const prices = createPrices(priceStore);
  registerHealth(app, deps.engine);
  const traces = createTraceLookup(deps.engine);
  const writer = createCallWriter(deps.engine, traces, {
    lingerMs: config.INGEST_LINGER_MS,
    maxPendingBytes: config.INGEST_MAX_PENDING_BYTES,
  });
  app.addHook("onClose", () => writer.drain());
  await app.register(ingestRoutes, {
    engine: deps.engine,
    traces,
    writer,
    clock,
    bodyLimitBytes: config.INGEST_BODY_LIMIT_BYTES,
  });
  await app.register(traceUsageRoutes, {
    engine: deps.engine,
    maxTraceCalls: config.MAX_TRACE_CALLS,
    costsFor: async (project) => {
      const book = await prices.bookFor(project);
      return (usage, startedAtMs) => book.cost(usage.llm, startedAtMs, usage);
    },
  });
  const feedbackWriter = createFeedbackWriter(deps.engine, clock, {
    lingerMs: config.INGEST_LINGER_MS,
    maxPendingBytes: config.INGEST_MAX_PENDING_BYTES,
  });
  app.addHook("onClose", () => feedbackWriter.drain());
  await app.register(feedbackRoutes, {
    writer: feedbackWriter,
    clock,
    bodyLimitBytes: config.INGEST_BODY_LIMIT_BYTES,
  });
  await app.register(feedbackStatsRoutes, { engine: deps.engine, clock });
  await app.register(costRoutes, { engine: deps.engine, prices: priceStore, clock });
  return app;
}
