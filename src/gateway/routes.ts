import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema, RouteOptions } from "fastify";
import type { Registry } from "prom-client";
import type { z } from "zod";
import { gatewayAccess, requireScope, trainAccess } from "../http/auth/guard.ts";
import type { Journal } from "../journal/journal.ts";
import { steadyClock, type Clock } from "../shared/clock.ts";
import { AppError } from "../shared/errors.ts";
import { relayModelApi, type ModelRelayOptions } from "./relay-model-api.ts";
import type { ModelApi } from "./apis/model-api.ts";
import { isModelsPath } from "./apis/endpoint-paths.ts";
import { CHAT, MODEL_APIS } from "./apis/model-apis.ts";
import { registerGatewayErrors } from "./errors.ts";
import { Gateway, type GatewaySettings } from "./gateway.ts";
import { registerMetrics, type GatewayMeter } from "./metrics.ts";
import { checkArtifact, checkNamedProjects } from "./named-projects.ts";
import { FREE, observeUnmetered } from "./observe-unmetered.ts";
import { KnownResponses, type ResponseMakers } from "./responses/known-responses.ts";
import { relayResponse } from "./responses/relay-response.ts";
import { askedResponse } from "./responses/response-id.ts";
import { asksForModels, listedBy, listModels } from "./models/model-list.ts";
import { Recorder, type CompletionStore } from "./recording/recorder.ts";
import { createUnrecorded } from "./recording/unrecorded.ts";
import { passThrough } from "./pass-through.ts";
import { pathBehindPrefix } from "./relay/upstream-path.ts";
import { relayRequest, type BodyPolicy } from "./request-relay.ts";
import * as schema from "./schema.ts";
import { RELAYED, typedRoutes, type TypedRoute } from "./training-routes.ts";
import type { Asked } from "./upstreams.ts";

export interface GatewayRoutesSettings extends GatewaySettings {
  readonly chatBodyLimitBytes: number;
  readonly trainingBodyLimitBytes: number;
  readonly typedBodyLimitBytes: number;
  readonly uploadIdleMs: number;
  /** How long a client may stop reading. */
  readonly stallMs: number;
  /** Silence in a stream after which a comment keeps the connection alive; 0 for none. */
  readonly sseKeepAliveMs: number;
  /** The paths outside the interface that are relayed unchanged. */
  readonly passThrough: readonly string[];
  /** Whether to ask for the usage of a recorded stream if its client does not. */
  readonly askForUsage: boolean;
  readonly keepContent: boolean;
  /** How long open responses may continue when the service stops. */
  readonly graceMs: number;
  /** How long recording may then take. */
  readonly recordMs: number;
  readonly maxPendingCalls: number;
  readonly maxPendingBytes: number;
}

export interface GatewayRoutesOptions {
  readonly settings: GatewayRoutesSettings;
  /** Where recorded completions go. */
  readonly completions: CompletionStore & ResponseMakers;
  /** Errors: those of a store that has no room for more. */
  readonly admit: () => void;
  /** Keeps them until they are there. */
  readonly journal: Journal | undefined;
  readonly clock: Clock;
  readonly registry: Registry;
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;
const config = { access: gatewayAccess, tag: "training" };
const trainConfig = { ...config, access: trainAccess };

/** The training and chat gateway. Register it under `/v1`. Owns its upstreams; drains and closes with the app. */
export async function gatewayRoutes(app: FastifyInstance, options: GatewayRoutesOptions): Promise<void> {
  const { settings, clock, registry } = options;
  const recorder = new Recorder({
    ...settings,
    admit: options.admit,
    store: options.completions,
    journal: options.journal,
    clock: steadyClock,
    logger: app.log,
  });
  const gateway = new Gateway(settings);
  const meter = registerMetrics(registry, {
    openRequests: () => settings.open.counts().held,
    recorder,
  });
  app.addHook("preClose", async () => gateway.stop(settings.graceMs));
  app.addHook("onClose", async () => {
    await recorder.drain(settings.recordMs);
    await gateway.close();
  });
  registerGatewayErrors(app);
  refuseUpgrades(app);
  passBodiesUnread(app);

  const add = (route: RouteOptions): void => {
    app.route({ config, ...route, compress: false, decompress: false, preValidation: checkNamedProjects });
  };
  addHealth(add, gateway);
  const tellUnrecorded = createUnrecorded(registry, steadyClock);
  const makers = options.completions;
  const responses = new KnownResponses();
  const metered = { settings, clock, recorder, makers, responses, tellUnrecorded, gateway, meter };
  for (const modelApi of MODEL_APIS) addModelApi(add, modelApi, metered);
  for (const route of typedRoutes) addTyped(add, route, { gateway, meter, settings });
  for (const [path, allowed] of methodsByPath()) addOtherMethods(add, path, allowed);
  addPassThrough(add, { gateway, meter, settings }, metered);
}

/** Clients that speak over a WebSocket first go on without one. */
function refuseUpgrades(app: FastifyInstance): void {
  app.addHook("preParsing", async ({ headers }, reply) => {
    if (!/\bwebsocket\b/i.test(headers.upgrade ?? "")) return;
    void reply.header("upgrade", "HTTP/1.1");
    throw new AppError("upgrade_required", "There are no WebSockets here. Ask over HTTP.");
  });
}

type Add = (route: RouteOptions) => void;

interface Shared {
  readonly gateway: Gateway;
  readonly meter: GatewayMeter;
  readonly settings: GatewayRoutesSettings;
}

/** Routes read their own bodies. The declared schema of a body is only for `openapi.json`. */
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

/** One route handles both forms of the path: the app ignores a final slash. */
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
    handler: (request, reply) => relayModelApi(request, reply, { ...options, modelApi }),
  });
}

function addTyped(add: Add, route: TypedRoute, shared: Shared): void {
  const { settings } = shared;
  const rule: BodyPolicy =
    route.body === "typed"
      ? { kind: "typed", schema: route.schema.body!, limitBytes: settings.typedBodyLimitBytes }
      : { kind: "streamed", limitBytes: settings.trainingBodyLimitBytes };
  add({
    method: route.method,
    url: route.path,
    config: trainConfig,
    schema: described({ description: RELAYED, ...route.schema }),
    handler: (request, reply) =>
      relayRequest(request, reply, {
        ...shared,
        target: shared.gateway.upstreams.training(),
        route: `${route.method} ${route.path}`,
        body: rule,
        wrapsErrors: true,
        repeatable: route.method !== "POST",
      }),
  });
}

/** What has no reader of its own: what is free, and what `passes` lists. */
function addPassThrough(add: Add, shared: Shared, metered: ModelRelayOptions): void {
  const passes = passThrough(shared.settings.passThrough);
  const relay = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const listed = asksForModels(request) ? listedBy(request, shared.gateway) : undefined;
    if (asksForModels(request) && listed === undefined) return listModels(request, reply, shared.gateway);
    const asked = askedOf(request);
    checkArtifact(request.grant, ["path", "model"], asked.model);
    const target = listed ?? shared.gateway.upstreams.leadingTo(asked);
    return relayRequest(request, reply, {
      ...shared,
      target,
      observer: observeUnmetered(request, reply, { ...metered, meter: shared.meter, target }),
      route: "other",
      body: { kind: "streamed", limitBytes: shared.settings.trainingBodyLimitBytes },
      wrapsErrors: false,
      // other POSTs carry ids that make them safe to repeat
      repeatable: request.method !== "POST" || !/^\/v1\/preview(?:$|[/?])/.test(request.url),
    });
  };
  for (const url of FREE) add({ method: "POST", url, schema: { hide: true }, handler: relay });
  add({
    method: [...METHODS],
    url: "/*",
    schema: { hide: true },
    handler: async (request, reply) => {
      const asked = askedResponse(request.method, pathBehindPrefix(request.url));
      if (asked !== undefined) return relayResponse(request, reply, { ...metered, asked });
      if (!passes(request)) {
        throw new AppError(
          "not_found",
          "No route for this path. GATEWAY_PASSTHROUGH_PATHS lists what else passes.",
        );
      }
      if (!isModelsPath(pathBehindPrefix(request.url))) requireScope(request.grant, "train");
      return relay(request, reply);
    },
  });
}

/** What is asked of a model by its name leads to its upstream. */
function askedOf({ url }: FastifyRequest): Asked {
  const path = pathBehindPrefix(url);
  const [, model] = /^\/models\/([^/?#]+)/.exec(path) ?? [];
  return { path, model: model === undefined ? undefined : decoded(model) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function methodsByPath(): ReadonlyMap<string, ReadonlySet<string>> {
  const methods = new Map([
    ["/health", new Set(["GET", "HEAD"])],
    ...[...MODEL_APIS.map(({ path }) => path), ...FREE].map((path) => [path, new Set(["POST"])] as const),
  ]);
  for (const { path, method } of typedRoutes) methods.set(path, (methods.get(path) ?? new Set()).add(method));
  return methods;
}

/** Rejects unknown methods of known paths here: nothing of them is relayed. */
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
    handler: async (_request: FastifyRequest, reply: FastifyReply) => {
      void reply.header("allow", allow);
      throw new AppError("method_not_allowed", `This route takes ${allow}.`);
    },
  });
}

const healthSchema: schema.RouteSchema = {
  operationId: "gatewayHealth",
  summary: "Health of the gateway itself",
  description: "Contacts no upstream: it only reports which are configured.",
  success: "The state of each upstream",
  example: { response: { status: "ok", upstreams: { training: "configured", chat: "not_configured" } } },
  response: schema.responses.health,
};

function described({ response, ...parts }: schema.RouteSchema): FastifySchema {
  return { ...parts, errors: "GatewayError", response: { 200: response, default: schema.errorResponse } };
}
