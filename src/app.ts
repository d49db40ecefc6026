import compress from "@fastify/compress";
import Fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from "fastify";
import { Registry } from "prom-client";
import { apiKeyRoutes } from "./admin/keys/routes.ts";
import { agentStatsRoutes } from "./agent-metrics/routes.ts";
import { whoamiRoutes } from "./admin/keys/whoami.ts";
import { registerAudit } from "./http/audit/register-audit.ts";
import { auditRoutes } from "./admin/audit/routes.ts";
import { registerGuard } from "./http/auth/guard.ts";
import { createKeyRing } from "./http/auth/key-ring.ts";
import { createKeyStore } from "./http/auth/key-store.ts";
import { createKeyUses } from "./http/auth/key-last-used.ts";
import { backupRoutes } from "./admin/backups/routes.ts";
import type { FeedbackOf } from "./calls/read/calls-with-feedback.ts";
import { callsQueryRoutes } from "./calls/read/routes.ts";
import { createPointStore } from "./agent-metrics/point-store.ts";
import { createCallWriter } from "./calls/write/call-writer.ts";
import { createNamedCalls } from "./calls/storage-key/named-calls.ts";
import { createStorageKeyLookup } from "./calls/storage-key/key-lookup.ts";
import { cacheReads } from "./store/cached-reads.ts";
import type { Engine } from "./store/engine.ts";
import { instrumentEngine } from "./store/instrumented-engine.ts";
import { retryWithoutSpace } from "./store/require-free-space.ts";
import { backupDirOf, type Config } from "./config.ts";
import { registerBudgetJobs } from "./budget-jobs.ts";
import { createBudgetService, createWriteChanges, noteChanges } from "./budget-service.ts";
import { budgetRoutes } from "./budgets/routes.ts";
import { datasetRoutes } from "./datasets/routes.ts";
import { connectionLimit } from "./connection-limit.ts";
import { costRoutes } from "./prices/routes/cost-routes.ts";
import { feedbackOfRefs } from "./feedback/feedback-of-refs.ts";
import { feedbackRoutes } from "./feedback/routes.ts";
import { createFeedbackWriter } from "./feedback/feedback-writer.ts";
import { feedbackStatsRoutes } from "./feedback/stats/routes.ts";
import { compression } from "./http/compression.ts";
import { registerConnections, registerStalledClients } from "./http/limits/connections.ts";
import { registerCors } from "./http/cors.ts";
import { registerErrorHandling, sendError } from "./http/errors.ts";
import { registerHealth } from "./http/health.ts";
import { registerOpenapi, registerOpenapiRoute } from "./http/openapi/register.ts";
import { registerJsonBody } from "./http/json-body.ts";
import { registerMetricsRoute } from "./http/metrics.ts";
import { registerLoadShedding } from "./http/limits/load-shedding.ts";
import { registerRequestId, requestIdOf } from "./http/request-id.ts";
import { registerRequestLog, withoutHeaders } from "./http/request-log.ts";
import { registerBodyBytes } from "./http/limits/body-bytes.ts";
import { registerRequestLimits } from "./http/limits/request-limits.ts";
import { isBelowV1, normalizeTarget, registerTargets } from "./http/request-target.ts";
import { rejectAmbiguous, rejectMalformed, respondBadUrl } from "./http/malformed-requests.ts";
import { registerValidation } from "./http/schemas/validation.ts";
import type { Journal } from "./journal/journal.ts";
import { ingestRoutes } from "./ingest/routes.ts";
import { BUILT_PAGE, pageRoutes } from "./web/routes.ts";
import { registerPeriodic } from "./periodic.ts";
import { createContentWriter } from "./content/content-writer.ts";
import { contentRoutes } from "./content/routes.ts";
import { setupRoutes } from "./content/setup-routes.ts";
import { otlpRoutes } from "./ingest/otlp/routes.ts";
import { loadPriceList } from "./prices/list/load-price-list.ts";
import { createPriceStore } from "./prices/project/price-store.ts";
import { costsBy, createPrices } from "./prices/prices.ts";
import { registerDeletions } from "./deletion-jobs.ts";
import { registerUsageRollup } from "./usage-rollup-jobs.ts";
import { meterUsageBasis } from "./usage-basis-meter.ts";
import { createServiceMetrics } from "./service-metrics.ts";
import { gatewayRoutesSettings } from "./gateway-settings.ts";
import { createLimiters, registerLimiterMetrics, type Limiters } from "./service-limiters.ts";
import { limitDisk } from "./disk-limit.ts";
import { shutdownDeadlines } from "./shutdown-deadlines.ts";
import type { Project } from "./shared/project.ts";
import { steadyClock, systemClock, type Clock } from "./shared/clock.ts";
import { endpointTarget } from "./gateway/apis/model-apis.ts";
import { errorBodyOf, sendGatewayError } from "./gateway/errors.ts";
import { completionStore } from "./gateway/recording/completion-store.ts";
import { gatewayRoutes } from "./gateway/routes.ts";
import { gatewayErrors } from "./gateway/schema.ts";
import { receiptRoutes } from "./trace-usage/receipts/routes.ts";
import { traceUsageRoutes } from "./trace-usage/response/routes.ts";
import { tracesRoutes } from "./calls/read/trace/routes.ts";
import { usageStatsRoutes } from "./stats/routes.ts";
import { registerTraining } from "./training-service.ts";
import { traceListRoutes } from "./traces/routes.ts";

export interface Deps {
  /** A migrated store. `buildApp` does not close it. */
  readonly engine: Engine;
  readonly rootKey: string;
  /** Journal that survives a kill of the process. `buildApp` does not close it. */
  readonly journal?: Journal | undefined;
  readonly logger: FastifyBaseLogger;
  /** Directory of the built web UI. */
  readonly pageDir?: string;
  readonly clock?: Clock;
  /** Monotonic clock for limits and waits. */
  readonly steady?: Clock;
  /** How long the first write of a batch waits for others; 20 ms if absent. */
  readonly lingerMs?: number;
}

export type App = FastifyInstance;

const MINUTE_MS = 60_000;
const INGEST_LINGER_MS = 20;

/** Builds the whole service as one Fastify instance, for the process, tests, benchmarks and scripts. */
export async function buildApp(config: Config, deps: Deps): Promise<App> {
  const { clock = systemClock, steady = steadyClock, rootKey } = deps;
  const registry = new Registry();
  const metrics = createServiceMetrics(registry);
  const limiters = createLimiters(config);
  registerLimiterMetrics(registry, limiters);
  const app = await createServer(config, { logger: deps.logger, registry, limiters });
  const engine = cacheReads(retryWithoutSpace(instrumentEngine(deps.engine, metrics.statements)));
  await registerKeys(app, config, { engine, rootKey, clock, steady });

  const priceStore = createPriceStore(engine);
  const list = await loadPriceList(config.PRICES_FILE);
  const prices = createPrices(priceStore, { list, onUnknown: metrics.priceUnknown });
  const disk = limitDisk(app, config, { engine, registry });
  registerHealth(app, { ...engine, health: disk.health }, steady);
  await registerOpenapiRoute(app);
  registerMetricsRoute(app, registry);
  const { INGEST_BODY_LIMIT_BYTES: bodyLimitBytes } = config;
  const { lingerMs = INGEST_LINGER_MS } = deps;
  const writing = { lingerMs, pending: limiters.writes, onBatch: metrics.batchWritten };
  const lookup = createStorageKeyLookup(engine);
  const changes = createWriteChanges(engine, config.BUDGET_REPLICAS > 1);
  const onSuperseded = (project: Project): void => changes.others.note(project);
  const writer = createCallWriter({ engine, lookup, onSuperseded }, writing);
  const feedback = createFeedbackWriter(engine, clock, writing);
  const content = createContentWriter(engine, writing);
  const points = createPointStore(engine, writing);
  const noted = noteChanges(meterUsageBasis(writer, registry), [changes.all, changes.others]);
  const writers = disk.limitWrites({ calls: noted, feedback, content, points });
  for (const one of Object.values(writers)) app.addHook("onClose", () => one.drain());
  registerUsageRollup(app, { engine, clock, runExclusive: writer.runExclusive });
  await app.register(backupRoutes, { engine, clock, dir: backupDirOf(config) });
  const requestErasure = await registerDeletions(app, config, { engine, clock, writer });
  const ingestDeps = { writer: writers.calls, bodyLimitBytes };
  await app.register(ingestRoutes, { ...ingestDeps, engine, lookup, clock, requestErasure });
  await app.register(contentRoutes, { engine, writer: writers.content, bodyLimitBytes });
  await app.register(setupRoutes, { defaultEntity: config.DEFAULT_ENTITY });
  const telemetry = { keepsContent: config.AGENT_CONTENT, onIgnored: metrics.telemetryIgnored };
  await app.register(otlpRoutes, { ...ingestDeps, ...telemetry, points: writers.points });
  const readDeps = { engine, costsFor: costsBy(prices) };
  const { MAX_TRACE_CALLS: maxTraceCalls } = config;
  await app.register(traceUsageRoutes, { ...readDeps, maxTraceCalls });
  const feedbackOf: FeedbackOf = (project, query) => feedbackOfRefs(engine, project, query);
  await app.register(callsQueryRoutes, { ...readDeps, clock, feedbackOf });
  await app.register(tracesRoutes, { engine, maxTraceCalls });
  await app.register(receiptRoutes, { engine, prices, maxTraceCalls });
  const statsDeps = {
    ...readDeps,
    clock,
    maxCalls: config.MAX_STATS_CALLS,
    bookFor: (project: Project) => prices.bookFor(project),
    providerOf: (llm: string, servedBy: string | undefined) => prices.providerOf(llm, servedBy),
  };
  const maxAggregates = config.MAX_STATS_AGGREGATES;
  await app.register(usageStatsRoutes, { ...statsDeps, ...feedbackStatsLimits(config), maxAggregates });
  await app.register(agentStatsRoutes, { engine, clock });
  await app.register(datasetRoutes, { engine, clock });
  await app.register(traceListRoutes, { ...statsDeps, maxTraces: maxAggregates });
  const { budgets, ...budgeting } = createBudgetService({
    ...statsDeps,
    maxAggregates,
    changes,
    replicas: config.BUDGET_REPLICAS,
    steady,
  });
  await app.register(budgetRoutes, budgeting);
  registerBudgetJobs(app, config, { ...budgeting, engine, registry, clock, steady });
  await app.register(feedbackRoutes, { engine, writer: writers.feedback, clock, bodyLimitBytes });
  await app.register(feedbackStatsRoutes, { ...statsDeps, limits: feedbackStatsLimits(config) });
  const completions = disk.limitRecording(
    completionStore(noteChanges(writer, [changes.all]), lookup, createNamedCalls(engine, lookup)),
  );
  const recording = { completions, journal: deps.journal, clock, registry };
  const training = await registerTraining(app, { engine, clock, steady, writing });
  const settings = gatewayRoutesSettings(config, limiters.gateway);
  await app.register(gatewayRoutes, { ...recording, prefix: "/v1", settings, ...training, budgets, prices });
  await app.register(costRoutes, { engine, prices: priceStore, clock });
  await app.register(pageRoutes, { dir: deps.pageDir ?? BUILT_PAGE });
  return app;
}

function feedbackStatsLimits({ MAX_METRICS: maxMetrics, MAX_PERCENTILES: maxPercentiles }: Config) {
  return { maxMetrics, maxPercentiles };
}

interface ServerDeps {
  readonly logger: FastifyBaseLogger;
  readonly registry: Registry;
  readonly limiters: Limiters;
}

/** Creates the server with everything routes share, except authorization. */
async function createServer(config: Config, { logger, registry, limiters }: ServerDeps): Promise<App> {
  const unreadable = { log: logger, bodyOf: errorBodyOf };
  const app: App = Fastify({
    loggerInstance: withoutHeaders(logger),
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "request_id" }),
    genReqId: requestIdOf,
    rewriteUrl: (request) => endpointTarget(request, normalizeTarget(request.url ?? "/")),
    requestIdHeader: false,
    trustProxy: config.TRUST_PROXY,
    bodyLimit: config.BODY_LIMIT_BYTES,
    // model providers accept headers of 64 KiB; the request line comes on top
    http: { requireHostHeader: false, maxHeaderSize: 72 * 1024 },
    routerOptions: { maxParamLength: 1024, ignoreTrailingSlash: true },
    forceCloseConnections: "idle",
    // requests on open connections are served during shutdown
    return503OnClosing: false,
    // gigabyte training bodies take minutes
    requestTimeout: 1_200_000,
    connectionTimeout: config.CLIENT_STALL_TIMEOUT_MS,
    exposeHeadRoutes: false,
    clientErrorHandler: (error, socket) => rejectMalformed(error, socket, unreadable),
    frameworkErrors: (error, request, reply) =>
      respondBadUrl(error, request, reply, isBelowV1(request.originalUrl) ? sendGatewayError : sendError),
  });
  registerRequestId(app);
  registerRequestLog(app, registry);
  registerConnections(app, {
    max: connectionLimit(config),
    closeMs: shutdownDeadlines(config).closeMs,
    registry,
  });
  registerStalledClients(app);
  rejectAmbiguous(app);
  registerTargets(app);
  await registerCors(app, config.CORS_ORIGINS);
  registerBodyBytes(app, limiters.bodies);
  registerJsonBody(app);
  registerValidation(app);
  registerErrorHandling(app);
  await app.register(compress, {
    ...compression,
    requestEncodings: ["gzip", "deflate", "identity"],
  });
  await registerOpenapi(app, { otherErrors: gatewayErrors });
  await registerLoadShedding(app, config.MAX_EVENT_LOOP_DELAY_MS);
  await registerRequestLimits(app, {
    maxPerMinute: config.RATE_LIMIT_PER_MINUTE,
    open: limiters.requests,
  });
  return app;
}

/** Registers authorization, the audit log and the key routes. */
async function registerKeys(
  app: App,
  config: Config,
  { engine, rootKey, clock, steady }: { engine: Engine; rootKey: string; clock: Clock; steady: Clock },
): Promise<void> {
  const ring = createKeyRing(createKeyStore(engine), rootKey, { clock, steady });
  const uses = createKeyUses(engine, clock);
  await registerGuard(app, { keys: ring, uses, origins: config.CORS_ORIGINS });
  registerAudit(app, engine, clock);
  registerPeriodic(app, { name: "key_uses", everyMs: MINUTE_MS, atEnd: true, run: () => uses.flush() });
  await app.register(apiKeyRoutes, { ring, uses, clock });
  await app.register(whoamiRoutes, { engine });
  await app.register(auditRoutes, { engine });
}
