import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema, RouteOptions } from "fastify";
import type { Registry } from "prom-client";
import type { z } from "zod";
import { trainAccess } from "../http/auth/guard.ts";
import type { Journal } from "../journal/journal.ts";
import { steadyClock, type Clock } from "../shared/clock.ts";
import { AppError } from "../shared/errors.ts";
import { relayChat, type ChatOptions } from "./chat-relay.ts";
import { isChatDoor, isPreview, leadsToChat } from "./doors.ts";
import { registerGatewayErrors } from "./errors.ts";
import { Gateway, type GatewaySettings } from "./gateway.ts";
import { registerMetrics } from "./metrics.ts";
import { Recorder, type CompletionStore } from "./recording/recorder.ts";
import { createUnrecorded } from "./recording/unrecorded.ts";
import { passThrough } from "./pass-through.ts";
import type { RelayMeter } from "./relay/relay.ts";
import { pathBehindPrefix } from "./relay/upstream-path.ts";
import { relayRequest, type BodyRule } from "./request-relay.ts";
import * as schema from "./schema.ts";

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
  readonly completions: CompletionStore;
  /** Keeps them until they are there. */
  readonly journal: Journal | undefined;
  readonly clock: Clock;
  readonly registry: Registry;
}

interface TypedRoute {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly summary: string;
  readonly response: z.ZodType;
  readonly params?: z.ZodType;
  readonly query?: z.ZodType;
  /** `typed` bodies are checked; `streamed` ones are large and pass unread. */
  readonly body?: { readonly kind: "typed" | "streamed"; readonly schema: z.ZodType };
}

const model = "/preview/models/:model_id";
const job = "/preview/training-jobs/:training_job_id";
const { responses } = schema;

const typedRoutes: readonly TypedRoute[] = [
  {
    method: "POST",
    path: "/preview/models",
    summary: "Create a model",
    response: responses.model,
    body: { kind: "typed", schema: schema.createModelBody },
  },
  {
    method: "DELETE",
    path: model,
    summary: "Delete a model",
    response: responses.deletedModel,
    params: schema.modelParams,
  },
  {
    method: "GET",
    path: `${model}/checkpoints`,
    summary: "List checkpoints of a model",
    response: responses.checkpoints,
    params: schema.modelParams,
    query: schema.checkpointsQuery,
  },
  {
    method: "DELETE",
    path: `${model}/checkpoints`,
    summary: "Delete checkpoints of a model",
    response: responses.deletedCheckpoints,
    params: schema.modelParams,
    body: { kind: "typed", schema: schema.deleteCheckpointsBody },
  },
  {
    method: "POST",
    path: `${model}/log`,
    summary: "Record a log for a model",
    response: responses.log,
    params: schema.modelParams,
    body: { kind: "streamed", schema: schema.logBody },
  },
  {
    method: "POST",
    path: "/preview/sft-training-jobs",
    summary: "Create an SFT training job",
    response: responses.job,
    body: { kind: "typed", schema: schema.createSftJobBody },
  },
  {
    method: "POST",
    path: "/preview/training-jobs",
    summary: "Create an RL training job",
    response: responses.job,
    body: { kind: "streamed", schema: schema.createJobBody },
  },
  {
    method: "GET",
    path: job,
    summary: "Get a training job",
    response: responses.job,
    params: schema.jobParams,
  },
  {
    method: "GET",
    path: `${job}/events`,
    summary: "Get the events of a training job",
    response: responses.events,
    params: schema.jobParams,
    query: schema.eventsQuery,
  },
  {
    method: "GET",
    path: "/preview/base-models",
    summary: "List base models",
    response: responses.baseModels,
  },
  {
    method: "GET",
    path: "/system-check",
    summary: "Check the training service",
    response: responses.systemCheck,
  },
];

const METHODS = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"] as const;
const config = { access: trainAccess };

/** The training and chat gateway. Register it under `/v1`. Owns its upstreams; drains and closes with the app. */
export async function gatewayRoutes(app: FastifyInstance, options: GatewayRoutesOptions): Promise<void> {
  const { settings, clock, registry } = options;
  const recorder = new Recorder({
    ...settings,
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
  passBodiesUnread(app);

  const add = (route: RouteOptions): void => {
    app.route({ ...route, config, compress: false, decompress: false });
  };
  addHealth(add, gateway);
  const tellUnrecorded = createUnrecorded(registry, steadyClock);
  const chat = { settings, clock, recorder, tellUnrecorded, gateway, meter };
  addChat(add, chat);
  for (const route of typedRoutes) addTyped(add, route, { gateway, meter, settings });
  for (const [path, allowed] of methodsByPath()) addOtherMethods(add, path, allowed);
  addPassThrough(add, { gateway, meter, settings }, chat);
}

type Add = (route: RouteOptions) => void;

interface Shared {
  readonly gateway: Gateway;
  readonly meter: RelayMeter;
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
      Object.entries(gateway.configured).map(([name, is]) => [name, is ? "configured" : "not_configured"]),
    ),
  });
  const documented = described("Health of the gateway itself", { response: responses.health });
  add({ method: "GET", url: "/health", schema: documented, handler });
  add({ method: "HEAD", url: "/health", schema: { hide: true }, handler });
}

/** One route handles both forms of the path: the app ignores a final slash. */
function addChat(add: Add, options: ChatOptions): void {
  add({
    method: "POST",
    url: "/chat/completions",
    schema: {
      ...described("Create a chat completion", { body: schema.chatBody, response: responses.completion }),
      description: "The path with a final slash, `/v1/chat/completions/`, is the same.",
    },
    handler: (request, reply) => relayChat(request, reply, options),
  });
}

function addTyped(add: Add, route: TypedRoute, shared: Shared): void {
  const { settings } = shared;
  const rule: BodyRule =
    route.body?.kind === "typed"
      ? { kind: "typed", schema: route.body.schema, limitBytes: settings.typedBodyLimitBytes }
      : { kind: "streamed", limitBytes: settings.trainingBodyLimitBytes };
  add({
    method: route.method,
    url: route.path,
    schema: described(route.summary, {
      params: route.params,
      querystring: route.query,
      body: route.body?.schema,
      response: route.response,
    }),
    handler: (request, reply) =>
      relayRequest(request, reply, {
        ...shared,
        route: `${route.method} ${route.path}`,
        body: rule,
        reads: "errors",
        repeatable: route.method !== "POST",
      }),
  });
}

function addPassThrough(add: Add, shared: Shared, chat: ChatOptions): void {
  const passes = passThrough(shared.settings.passThrough);
  add({
    method: [...METHODS],
    url: "/*",
    schema: { hide: true },
    handler: async (request, reply) => {
      const isPost = request.method === "POST";
      const isChat = isPost && isChatDoor(request.url);
      if (!passes(request) && !(isChat && leadsToChat(request.url))) {
        throw new AppError("not_found", "There is nothing here.");
      }
      if (isChat) {
        return relayChat(request, reply, { ...chat, path: pathBehindPrefix(request.url) });
      }
      return relayRequest(request, reply, {
        ...shared,
        route: "other",
        body: { kind: "streamed", limitBytes: shared.settings.trainingBodyLimitBytes },
        reads: "nothing",
        // other POSTs carry ids that make them safe to repeat
        repeatable: !isPost || !isPreview(request.url),
      });
    },
  });
}

function methodsByPath(): ReadonlyMap<string, ReadonlySet<string>> {
  const methods = new Map([
    ["/health", new Set(["GET", "HEAD"])],
    ["/chat/completions", new Set(["POST"])],
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
    method: METHODS.filter((method) => method !== "OPTIONS" && !allowed.has(method)),
    url,
    schema: { hide: true },
    handler: async (_request: FastifyRequest, reply: FastifyReply) => {
      void reply.header("allow", allow);
      throw new AppError("method_not_allowed", `This route takes ${allow}.`);
    },
  });
}

interface Described {
  readonly params?: z.ZodType | undefined;
  readonly querystring?: z.ZodType | undefined;
  readonly body?: z.ZodType | undefined;
  readonly response: z.ZodType;
}

function described(summary: string, { response, ...parts }: Described): FastifySchema {
  const known = Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined));
  return {
    summary,
    tags: ["training"],
    ...known,
    response: { 200: response, default: schema.errorResponse },
  };
}
