import type { FastifyReply, FastifyRequest } from "fastify";
import { bindRequest, holdWorstCase, type BudgetGate } from "./budget-gate.ts";
import type { Clock } from "../shared/clock.ts";
import type { Project } from "../shared/project.ts";
import { geminiCallIn, normalizePath } from "./apis/endpoint-paths.ts";
import { RESPONSES } from "./apis/model-apis.ts";
import type { ModelApi } from "./apis/model-api.ts";
import type { Gateway } from "./gateway.ts";
import type { OwnerLedger } from "./ownership/ledger/owner-ledger.ts";
import type { BackgroundHolds } from "./recording/background-holds.ts";
import { readCaller, readTraceContext, type TraceContext } from "./recording/caller.ts";
import { CompletionRecording, type RecordingOptions } from "./recording/completion-recording.ts";
import type { ModelRequest } from "./recording/model-request.ts";
import type { Recorder } from "./recording/recorder.ts";
import type { ResponseIndex } from "./recording/response-index.ts";
import type { ReportUnrecorded } from "./metrics.ts";
import { checkDeclaredLength, uploadOptions } from "./relay/upload.ts";
import { pathAt, withQueryOf } from "./relay/upstream-path.ts";
import { projectOf } from "./named-projects.ts";
import { decoded, routeQueryOf, routeRequest } from "./route-request.ts";
import type { Target } from "./upstreams.ts";

export interface ModelRelayOptions extends BudgetGate {
  readonly gateway: Gateway;
  readonly recorder: Recorder;
  readonly responses: ResponseIndex;
  readonly holds: BackgroundHolds;
  readonly reportUnrecorded: ReportUnrecorded;
  readonly ledger: OwnerLedger;
  readonly clock: Clock;
  readonly settings: {
    readonly chatBodyLimitBytes: number;
    readonly captureContent: boolean;
  };
}

/** Relays a request to a metered endpoint and records it if it names a project. */
export async function relayModelApi(
  request: FastifyRequest,
  reply: FastifyReply,
  modelApi: ModelApi,
  options: ModelRelayOptions,
): Promise<void> {
  const { gateway, settings } = options;
  if (!gateway.enter(request, reply)) return;
  checkDeclaredLength(request.raw, settings.chatBodyLimitBytes);
  const named = projectOf(request);
  if (named.project === undefined) options.reportUnrecorded(request, reply, named.reason);
  else options.recorder.admit();
  const trace = readTraceContext(request.headers);
  const bound = await bindRequest(request, { project: named.project, trace }, options);
  const limits = uploadOptions(request, settings.chatBodyLimitBytes);
  const isRecorded = named.project !== undefined;
  const includeUsage = isRecorded && modelApi.asksForUsage === true;
  const query = routeQueryOf(request);
  const needsBody = bound !== undefined;
  const routing = { ...options, query, isRecorded, needsBody, includeUsage, limits };
  const { target, read } = await routeRequest(request, routing);
  const readInputs =
    modelApi.api === "gemini" ? () => withPathFacts(read.readRequest(), request.url) : read.readRequest;
  const recording =
    named.project &&
    recordingOf(request, { ...options, project: named.project, modelApi, target, trace }, readInputs, {
      hidesUsage: read.hideUsage,
      mayRepeat: request.headers["idempotency-key"] !== undefined,
    });
  // the id of a response that may run on is that of its response
  if (recording !== undefined && !(modelApi === RESPONSES && read.mayRunOn()))
    void reply.header("x-sumtree-call-id", recording.callId);
  if (recording !== undefined && bound !== undefined)
    await holdWorstCase(request, reply, { ...options, bound, modelApi, target, read, recording });

  try {
    await gateway.relay(request, reply, {
      route: `POST ${modelApi.path}`,
      target,
      path: withQueryOf(request.url, normalizePath(pathAt(target, request.url))),
      body: read.body,
      isPlain: read.hideUsage,
      modelApi,
      wrapsErrors: modelApi.wrapsErrors === true,
      repeatable: true,
      observer: recording,
    });
  } finally {
    recording?.release();
  }
}

/** Adds what Gemini's API has in the path in place of the body. */
function withPathFacts(read: ModelRequest, url: string): ModelRequest {
  const { model, verb } = geminiCallIn(url)!;
  return { ...read, model: decoded(model), stream: /^stream/i.test(verb) };
}

interface Recorded extends ModelRelayOptions {
  readonly project: Project;
  readonly modelApi: ModelApi;
  readonly target: Target;
  readonly trace?: TraceContext;
}

export function recordingOf(
  request: FastifyRequest,
  { modelApi, project, target, trace, recorder, responses, holds, budgets, clock, settings }: Recorded,
  readRequest: () => ModelRequest,
  one: Pick<RecordingOptions, "hidesUsage" | "mayRepeat" | "retrieved">,
): CompletionRecording {
  const options = {
    modelApi,
    project,
    caller: readCaller(request.headers),
    trace: trace ?? readTraceContext(request.headers),
    apiKey: request.grant.keyId,
    requestId: request.id,
    upstream: target.name,
    provider: target.provider,
    recorder,
    responses,
    holds,
    budgets,
    clock,
    captureContent: settings.captureContent,
    ...one,
  };
  return new CompletionRecording(options, readRequest);
}
