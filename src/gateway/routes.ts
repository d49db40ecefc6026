import { randomUUID } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema, RouteOptions } from "fastify";
import type { Registry } from "prom-client";
import type { z } from "zod";
import { gatewayAccess, requireScope, trainAccess } from "../http/auth/guard.ts";
import type { Journal } from "../journal/journal.ts";
import { steadyClock, type Clock } from "../shared/clock.ts";
import { AppError } from "../shared/errors.ts";
import { relayModelApi, type ModelRelayOptions } from "./relay-model-api.ts";
import type { ModelApi } from "./apis/model-api.ts";
import { FREE, geminiCallIn, isModelsPath, isTrainingPath } from "./apis/endpoint-paths.ts";
import { CHAT, GEMINI_APIS, MODEL_APIS } from "./apis/model-apis.ts";
import { registerGatewayErrors } from "./errors.ts";
import { Gateway, type GatewaySettings } from "./gateway.ts";
import { registerMetrics, createUnmetered, type ReportUnmetered, createUnrecorded } from "./metrics.ts";
import { checkArtifact, checkNamedProjects } from "./named-projects.ts";
import { refuseUnmetered, type BudgetGate } from "./budget-gate.ts";
import { BackgroundHolds } from "./recording/background-holds.ts";
import { ResponseIndex, type ResponseMakers } from "./recording/response-index.ts";
import { parseResponseRequest, relayResponse } from "./relay-response.ts";
import { isModelListRequest, singleLister, listModels } from "./models/model-list.ts";
import { Recorder, type CompletionStore } from "./recording/recorder.ts";
import type { OwnerLedger } from "./ownership/ledger/owner-ledger.ts";
import { checkOwned, passingRoute } from "./ownership/resource-access.ts";
import { pathBehindPrefix } from "./relay/upstream-path.ts";
import { relayRequest, type BodyPolicy } from "./request-relay.ts";
import { routeQueryOf } from "./route-request.ts";
import * as schema from "./schema.ts";
import { passThrough } from "./upstreams.ts";
import { fetchJson } from "./relay/fetch-json.ts";
import type { TrainingJobs } from "../training-jobs/training-jobs.ts";
import { RELAYED, typedRoutes, type TypedRoute } from "./training-routes.ts";

export interface GatewayRoutesSettings extends GatewaySettings {
  readonly chatBodyLimitBytes: number;
  readonly trainingBodyLimitBytes: number;
  readonly typedBodyLimitBytes: number;
  /** Paths without own routes that are relayed unchanged. */
  readonly passThrough: readonly string[];
  readonly captureContent: boolean;
  /** Time for open responses at shutdown. */
  readonly graceMs: number;
  /** Time for recording after that. */
  readonly recordMs: number;
  readonly maxPendingCalls: number;
  readonly maxPendingBytes: number;
}

export interface GatewayRoutesOptions extends BudgetGate {
  readonly settings: GatewayRoutesSettings;
  /** Store of recorded completions. */
  readonly completions: CompletionStore & ResponseMakers;
  readonly ledger: OwnerLedger;
  readonly jobs: TrainingJobs;
  /** Keeps completions until they are stored. */
  readonly journal: Journal | undefined;
  readonly clock: Clock;
  readonly registry: Registry;
}

/** Limits of a read of the training service. */
const MAX_READ_MS = 10_000;
const MAX_READ_BYTES = 1024 * 1024;
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;
const config = { access: gatewayAccess, tag: "training" };
const trainConfig = { ...config, access: trainAccess };

/** Registers the training and model gateway; register it under `/v1`. Owns its upstreams; drains and closes with the app. */
export async function gatewayRoutes(app: FastifyInstance, options: GatewayRoutesOptions): Promise<void> {
  const { settings, clock, registry, ledger, jobs, budgets, prices } = options;
  const recorder = new Recorder({
    ...settings,
    store: options.completions,
    journal: options.journal,
    clock: steadyClock,
    logger: app.log,
  });
  const meter = registerMetrics(registry, {
    openRequests: () => settings.open.counts().held,
    recorder,
  });
  const gateway = new Gateway(settings, meter);
  app.addHook("preClose", async () => gateway.stop(settings.graceMs));
  app.addHook("onClose", async () => {
    await gateway.drain();
    await recorder.drain(settings.recordMs);
    await gateway.close();
  });
  connectTraining(app, gateway, jobs);
  registerGatewayErrors(app);
  rejectUpgrades(app);
  passBodiesUnread(app);

  const add = (route: RouteOptions): void => {
    app.route({ config, ...route, compress: false, decompress: false, preValidation: checkNamedProjects });
  };
  addHealth(add, gateway);
  const reportUnrecorded = createUnrecorded(registry, steadyClock);
  const responses = new ResponseIndex(options.completions, () =>
    gateway.upstreams.modelTargets.map(({ name }) => name),
  );
  const shared = { gateway, settings, ledger, jobs, responses };
  const holds = new BackgroundHolds(options.journal, async (request) => {
    const hold = await budgets.resume(request);
    return hold && { hold, request, book: await prices.sharedBookFor(request.project) };
  });
  // a request that needs them tries again
  app.addHook("onReady", async () => void holds.resume(clock.now()).catch(() => undefined));
  const metered = { ...shared, clock, recorder, holds, reportUnrecorded, budgets, prices };
  for (const modelApi of MODEL_APIS) addModelApi(add, modelApi, metered);
  for (const route of typedRoutes) addTyped(add, route, shared);
  for (const [path, allowed] of methodsByPath()) addOtherMethods(add, path, allowed);
  addPassThrough(add, { shared, metered, reportUnmetered: createUnmetered(registry, steadyClock, app.log) });
}

/** Lets the ledger of training jobs read the training service, if there is one. */
function connectTraining(app: FastifyInstance, { upstreams }: Gateway, jobs: TrainingJobs): void {
  const target = upstreams.named("training");
  if (target === undefined) return;
  const closing = new AbortController();
  app.addHook("preClose", async () => closing.abort());
  const options = { maxBytes: MAX_READ_BYTES, timeoutMs: MAX_READ_MS, signal: closing.signal };
  jobs.connect((path) => fetchJson(target, path, { ...options, requestId: randomUUID() }));
}

/** Rejects WebSocket upgrades with 426, so that clients fall back to HTTP. */
function rejectUpgrades(app: FastifyInstance): void {
  app.addHook("preParsing", async ({ headers }, reply) => {
    if (!/\bwebsocket\b/i.test(headers.upgrade ?? "")) return;
    void reply.header("upgrade", "HTTP/1.1");
    throw new AppError("upgrade_required", "WebSockets are not supported. Use HTTP.");
  });
}

type Add = (route: RouteOptions) => void;

interface Shared {
  readonly gateway: Gateway;
  readonly responses: ResponseIndex;
  readonly settings: GatewayRoutesSettings;
  readonly ledger: OwnerLedger;
  readonly jobs: TrainingJobs;
}

/** Leaves bodies to the routes. Declared body schemas serve `openapi.json` only. */
function passBodiesUnread(app: FastifyInstance): void {
  const { validatorCompiler } = app;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  app.setValidatorCompiler<z.ZodType>((route) =>
    route.httpPart === "body" || validatorCompiler === undefined
      ? (value) => ({ value })
      : validatorCompiler(route),
  );
}

function addHealth(add: Add, gateway: Gateway): void {
  const handler = async () => ({
    status: "ok" as const,
    upstreams: Object.fromEntries(
      Object.entries(gateway.upstreams.configured).map(([name, is]) => [
        name,
        is ? "configured" : "not_configured",
      ]),
    ),
  });
  add({ method: "GET", url: "/health", schema: described(healthSchema), handler });
  add({ method: "HEAD", url: "/health", schema: { hide: true }, handler });
}

/** Adds a metered endpoint. The app ignores a trailing slash, so one route handles both forms. */
function addModelApi(add: Add, modelApi: ModelApi, options: ModelRelayOptions): void {
  const { chatBody, modelBody, responses } = schema;
  const parts =
    modelApi === CHAT
      ? { body: chatBody, response: responses.completion }
      : { body: modelBody, response: responses.answer };
  add({
    method: "POST",
    url: modelApi.path,
    schema: modelApi.schema === undefined ? { hide: true } : described({ ...modelApi.schema, ...parts }),
    handler: (request, reply) => relayModelApi(request, reply, modelApi, options),
  });
}

function addTyped(add: Add, route: TypedRoute, shared: Shared): void {
  const { settings } = shared;
  const policy: BodyPolicy =
    route.body === "typed"
      ? { kind: "typed", schema: route.schema.body!, limitBytes: settings.typedBodyLimitBytes }
      : { kind: route.body ?? "other", limitBytes: settings.trainingBodyLimitBytes };
  add({
    method: route.method,
    url: route.path,
    config: trainConfig,
    schema: described({ description: RELAYED, ...route.schema }),
    handler: (request, reply) =>
      relayRequest(request, reply, {
        ...shared,
        route: `${route.method} ${route.path}`,
        body: policy,
        wrapsErrors: true,
        repeatable: route.method !== "POST",
        resource: {
          kind: route.creates === true ? "creates" : "reads",
          needsModel: route.needsModel,
          job: route.job,
        },
      }),
  });
}

const NOT_LISTED = "No route for this path. GATEWAY_PASSTHROUGH_PATHS lists what else passes.";
/** Methods that may consume tokens. */
const CONSUMING: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH"]);

interface PassThroughOptions {
  readonly shared: Shared;
  readonly metered: ModelRelayOptions;
  readonly reportUnmetered: ReportUnmetered;
}

/** Adds unmetered paths: the free ones and those listed in `passThrough`. */
function addPassThrough(add: Add, { shared, metered, reportUnmetered }: PassThroughOptions): void {
  const passes = passThrough(shared.settings.passThrough);
  const relay = async (
    request: FastifyRequest,
    reply: FastifyReply,
    onSend?: () => void,
  ): Promise<unknown> => {
    const listed = isModelListRequest(request) ? singleLister(request, shared.gateway) : undefined;
    if (isModelListRequest(request) && listed === undefined)
      return listModels(request, reply, shared.gateway);
    const resource = passingRoute(request);
    const query = routeQueryOf(request);
    checkArtifact(request.grant, ["path", "model"], query.model);
    await checkOwned(request.grant, shared.ledger, query);
    return relayRequest(request, reply, {
      ...shared,
      target: listed,
      onSend,
      route: "other",
      body: { kind: "other", limitBytes: shared.settings.trainingBodyLimitBytes },
      wrapsErrors: false,
      // other POSTs carry ids that make them idempotent
      repeatable: request.method !== "POST" || !/^\/v1\/preview(?:$|[/?])/.test(request.url),
      resource,
    });
  };
  for (const url of FREE)
    add({ method: "POST", url, schema: { hide: true }, handler: (request, reply) => relay(request, reply) });
  const others = {
    method: [...METHODS],
    schema: { hide: true },
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      const call = geminiCallIn(request.url);
      if (call !== undefined && request.method !== "POST") return rejectMethod(reply, "POST");
      const modelApi = GEMINI_APIS.get(call?.verb ?? "");
      if (modelApi !== undefined) return relayModelApi(request, reply, modelApi, metered);
      if (call?.verb === "countTokens") return relay(request, reply);
      const responseRequest = parseResponseRequest(request);
      if (responseRequest !== undefined)
        return relayResponse(request, reply, { ...metered, responseRequest });
      const entry = passes(request);
      if (entry === undefined) throw new AppError("not_found", NOT_LISTED);
      const path = pathBehindPrefix(request.url);
      if (!isModelsPath(path)) requireScope(request.grant, "train");
      const isMeasurable = CONSUMING.has(request.method) && !isTrainingPath(path);
      if (isMeasurable) await refuseUnmetered(request, metered);
      return relay(request, reply, isMeasurable ? () => reportUnmetered(entry) : undefined);
    },
  };
  add({ ...others, url: "/*" });
  // with the prefix, `/v1beta/*`
  add({ ...others, url: "beta/*" });
}

function methodsByPath(): ReadonlyMap<string, ReadonlySet<string>> {
  const methods = new Map([
    ["/health", new Set(["GET", "HEAD"])],
    ...[...MODEL_APIS.map(({ path }) => path), ...FREE].map((path) => [path, new Set(["POST"])] as const),
  ]);
  for (const { path, method } of typedRoutes) methods.set(path, (methods.get(path) ?? new Set()).add(method));
  return methods;
}

/** Adds OPTIONS and rejects unknown methods of known paths. */
function addOtherMethods(add: Add, url: string, allowed: ReadonlySet<string>): void {
  const allow = [...allowed, "OPTIONS"].join(", ");
  add({
    method: "OPTIONS",
    url,
    schema: { hide: true },
    handler: (_request, reply) => reply.code(204).header("allow", allow).send(),
  });
  add({
    method: METHODS.filter((method) => !allowed.has(method)),
    url,
    schema: { hide: true },
    handler: async (_request: FastifyRequest, reply: FastifyReply) => rejectMethod(reply, allow),
  });
}

function rejectMethod(reply: FastifyReply, allow: string): never {
  void reply.header("allow", allow);
  throw new AppError("method_not_allowed", `Method not allowed. Allowed: ${allow}.`);
}

const healthSchema: schema.RouteSchema = {
  operationId: "gatewayHealth",
  summary: "Health of the gateway itself",
  description: "Reports which upstreams are configured, without contacting them.",
  success: "The state of each upstream",
  example: { response: { status: "ok", upstreams: { training: "configured", chat: "not_configured" } } },
  response: schema.responses.health,
};

function described({ response, ...parts }: schema.RouteSchema): FastifySchema {
  return {
    ...parts,
    errorResponse: "GatewayError",
    response: { 200: response, default: schema.errorResponse },
  };
}
