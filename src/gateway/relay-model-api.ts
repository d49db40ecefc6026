import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../shared/clock.ts";
import type { Project } from "../shared/project.ts";
import { geminiCallIn, normalizePath } from "./apis/endpoint-paths.ts";
import { RESPONSES } from "./apis/model-apis.ts";
import type { ModelApi } from "./apis/model-api.ts";
import type { Gateway } from "./gateway.ts";
import type { OwnerLedger } from "./ownership/ledger/owner-ledger.ts";
import { readCaller, readTraceContext } from "./recording/caller.ts";
import { CompletionRecording, type RecordingOptions } from "./recording/completion-recording.ts";
import { unreadModelRequest, type ModelRequest } from "./recording/model-request.ts";
import type { Recorder } from "./recording/recorder.ts";
import type { ResponseIndex } from "./recording/response-index.ts";
import type { ReportUnrecorded } from "./metrics.ts";
import type { RelayMetrics } from "./relay/relay.ts";
import { bodyToSend, checkDeclaredLength, type UploadOptions } from "./relay/upload.ts";
import { pathAt, targetUnder, withQueryOf } from "./relay/upstream-path.ts";
import { projectOf } from "./named-projects.ts";
import { headersFor } from "./request-relay.ts";
import { decoded, routeQueryOf, routeRequest } from "./route-request.ts";
import type { Target } from "./upstreams.ts";

export interface ModelRelayOptions {
  readonly gateway: Gateway;
  readonly meter: RelayMetrics;
  readonly recorder: Recorder;
  readonly responses: ResponseIndex;
  readonly reportUnrecorded: ReportUnrecorded;
  readonly ledger: OwnerLedger;
  readonly clock: Clock;
  readonly settings: {
    readonly chatBodyLimitBytes: number;
    readonly uploadIdleMs: number;
    readonly stallMs: number;
    readonly sseKeepAliveMs: number;
    readonly includeUsage: boolean;
    readonly captureContent: boolean;
  };
}

/** Relays a request to a metered endpoint and records it if it names a project. */
export async function relayModelApi(
  request: FastifyRequest,
  reply: FastifyReply,
  { modelApi, ...options }: ModelRelayOptions & { readonly modelApi: ModelApi },
): Promise<void> {
  const { gateway, settings } = options;
  if (!gateway.enter(request, reply)) return;
  checkDeclaredLength(request.raw, settings.chatBodyLimitBytes);
  const named = projectOf(request);
  if (named.project === undefined) options.reportUnrecorded(request, reply, named.reason);
  else options.recorder.admit();
  const limits = modelLimits(request, options);
  const isRecorded = named.project !== undefined;
  const includeUsage = isRecorded && modelApi.asksForUsage === true && settings.includeUsage;
  const query = routeQueryOf(request);
  const routing = { ...options, query, isRecorded, includeUsage, limits };
  const { target, read } = await routeRequest(request, routing);
  const hidesUsage = read?.hideUsage ?? false;
  const mayRepeat = request.headers["idempotency-key"] !== undefined;
  const readBody = read?.readRequest ?? (() => unreadModelRequest(0));
  const readInputs = modelApi.api === "gemini" ? () => withPathFacts(readBody(), request.url) : readBody;
  const recording =
    named.project &&
    recordingOf(request, { ...options, project: named.project, modelApi, target }, readInputs, {
      hidesUsage,
      mayRepeat,
    });
  // the id of a response that may run on is that of its response
  if (recording !== undefined && !(modelApi === RESPONSES && read?.mayRunOn() === true))
    void reply.header("x-sumtree-call-id", recording.callId);

  const body = read === undefined ? await bodyToSend(request.raw, limits) : read.body;
  await gateway.relay(request, reply, {
    route: `POST ${modelApi.path}`,
    meter: options.meter,
    target,
    upstreamRequest: {
      method: "POST",
      path: targetUnder(
        target.upstream.base,
        withQueryOf(request.url, normalizePath(pathAt(target, request.url))),
      ),
      headers: { ...headersFor(request, target, body), ...(hidesUsage && { "accept-encoding": "identity" }) },
      body,
    },
    modelApi,
    wrapsErrors: modelApi.wrapsErrors === true,
    repeatable: true,
    // Google's Python client would read a comment as an event
    keepAliveMs: modelApi.api === "gemini" ? 0 : settings.sseKeepAliveMs,
    stallMs: settings.stallMs,
    observer: recording,
  });
}

/** Adds what Gemini's API has in the path in place of the body. */
function withPathFacts(read: ModelRequest, url: string): ModelRequest {
  const { model, verb } = geminiCallIn(url)!;
  return { ...read, model: decoded(model), stream: /^stream/i.test(verb) };
}

export function modelLimits(request: FastifyRequest, { settings }: ModelRelayOptions): UploadOptions {
  return {
    limitBytes: settings.chatBodyLimitBytes,
    idleMs: settings.uploadIdleMs,
    hold: (bytes) => request.server.bodies.hold(request, bytes),
  };
}

interface Recorded extends ModelRelayOptions {
  readonly project: Project;
  readonly modelApi: ModelApi;
  readonly target: Target;
}

export function recordingOf(
  request: FastifyRequest,
  { modelApi, project, target, recorder, responses, clock, settings }: Recorded,
  readRequest: () => ModelRequest,
  one: Pick<RecordingOptions, "hidesUsage" | "mayRepeat" | "retrieved">,
): CompletionRecording {
  const options = {
    modelApi,
    project,
    caller: readCaller(request.headers),
    trace: readTraceContext(request.headers),
    apiKey: request.grant.keyId,
    requestId: request.id,
    upstream: target.name,
    provider: target.provider,
    recorder,
    responses,
    clock,
    captureContent: settings.captureContent,
    ...one,
  };
  return new CompletionRecording(options, readRequest);
}
