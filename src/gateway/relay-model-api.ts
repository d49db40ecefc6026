import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../shared/clock.ts";
import type { Project } from "../shared/project.ts";
import type { ModelApi } from "./apis/model-api.ts";
import { routeRequest } from "./route-request.ts";
import { readCaller } from "./recording/caller.ts";
import { CompletionRecording } from "./recording/completion-recording.ts";
import type { Gateway } from "./gateway.ts";
import type { OwnerLedger } from "./ownership/ledger/owner-ledger.ts";
import type { Target } from "./upstreams.ts";
import type { Recorder } from "./recording/recorder.ts";
import type { RelayMetrics } from "./relay/relay.ts";
import { projectOf } from "./request-project.ts";
import { headersFor } from "./request-relay.ts";
import type { KnownResponses, ResponseMakers } from "./responses/known-responses.ts";
import { readTraceContext } from "./recording/trace-context.ts";
import type { ReportUnrecorded } from "./recording/unrecorded.ts";
import { bodyToSend, checkDeclaredLength } from "./relay/upload.ts";
import { targetUnder, withQueryOf } from "./relay/upstream-path.ts";

export interface ModelRelayOptions {
  readonly gateway: Gateway;
  readonly meter: RelayMetrics;
  readonly recorder: Recorder;
  readonly makers: ResponseMakers;
  readonly responses: KnownResponses;
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
  else options.recorder.admit({ project: named.project, key: request.grant.keyId });
  const limits = {
    limitBytes: settings.chatBodyLimitBytes,
    idleMs: settings.uploadIdleMs,
    hold: (bytes: number): void => request.server.bodies.hold(request, bytes),
  };
  const isRecorded = named.project !== undefined;
  const includeUsage = isRecorded && modelApi.asksForUsage && settings.includeUsage;
  const query = { path: modelApi.path };
  const { target, read } = await routeRequest(request, {
    ...options,
    query,
    isRecorded,
    includeUsage,
    limits,
  });
  const recording = named.project && recordingOf(request, named.project, { ...options, modelApi, target });
  if (recording !== undefined) void reply.header("x-sumtree-call-id", recording.callId);
  if (read !== undefined) recording?.setRequest(read.readRequest);

  const body = read === undefined ? await bodyToSend(request.raw, limits) : read.body;
  const hideUsage = read?.hideUsage ?? false;
  await gateway.relay(request, reply, {
    route: `POST ${modelApi.path}`,
    meter: options.meter,
    target,
    upstreamRequest: {
      method: "POST",
      path: targetUnder(target.upstream.base, withQueryOf(request.url, modelApi.path)),
      // a stream that is edited has to be read
      headers: { ...headersFor(request, target, body), ...(hideUsage && { "accept-encoding": "identity" }) },
      body,
    },
    wrapsErrors: modelApi.wrapsErrors,
    openStream: (onEvent) => modelApi.openStream({ hideUsage, onEvent }),
    repeatable: true,
    keepAliveMs: settings.sseKeepAliveMs,
    stallMs: settings.stallMs,
    observer: recording,
  });
}

function recordingOf(
  request: FastifyRequest,
  project: Project,
  {
    modelApi,
    target,
    recorder,
    responses,
    clock,
    settings,
  }: ModelRelayOptions & { modelApi: ModelApi; target: Target },
): CompletionRecording {
  return new CompletionRecording({
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
  });
}
