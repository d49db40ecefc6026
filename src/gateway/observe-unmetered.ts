import type { FastifyReply, FastifyRequest } from "fastify";
import type { ModelRelayOptions } from "./relay-model-api.ts";
import { projectOf } from "./request-project.ts";
import { isTrainingPath, normalizePath } from "./apis/endpoint-paths.ts";
import type { GatewayMeter } from "./metrics.ts";
import { readCaller } from "./recording/caller.ts";
import { readTraceContext } from "./recording/trace-context.ts";
import { UnmeteredRecording } from "./recording/unmetered-recording.ts";
import { pathBehindPrefix } from "./relay/upstream-path.ts";
import type { Target } from "./upstreams.ts";

/** Paths that are free at every provider. */
export const FREE: ReadonlySet<string> = new Set(["/messages/count_tokens", "/responses/input_tokens"]);
/** Methods that may consume tokens. */
const CONSUMING_METHODS: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH"]);

type Options = ModelRelayOptions & { readonly meter: GatewayMeter; readonly target: Target };

/** Starts recording an unmetered request; `undefined` if it names no project or consumes nothing. */
export function observeUnmetered(
  request: FastifyRequest,
  reply: FastifyReply,
  { meter, target, recorder, clock }: Options,
): UnmeteredRecording | undefined {
  const path = pathBehindPrefix(request.url);
  if (!CONSUMING_METHODS.has(request.method) || isTrainingPath(path) || FREE.has(normalizePath(path)))
    return undefined;
  const { project } = projectOf(request);
  meter.unmetered();
  if (project === undefined) return undefined;
  recorder.admit({ project, key: request.grant.keyId });
  const recording = new UnmeteredRecording({
    project,
    caller: readCaller(request.headers),
    trace: readTraceContext(request.headers),
    apiKey: request.grant.keyId,
    requestId: request.id,
    upstream: target.name,
    recorder,
    clock,
    method: request.method,
    path: path.split("?", 1)[0]!,
  });
  void reply.header("x-sumtree-call-id", recording.callId);
  return recording;
}
