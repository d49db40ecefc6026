import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../shared/errors.ts";
import type { Project } from "../../shared/project.ts";
import type { ModelRelayOptions } from "../relay-model-api.ts";
import { projectOf } from "../request-project.ts";
import { RESPONSES } from "../apis/model-apis.ts";
import { headersFor } from "../request-relay.ts";
import { bodyToSend } from "../relay/upload.ts";
import { pathBehindPrefix, targetUnder } from "../relay/upstream-path.ts";
import type { Target } from "../upstreams.ts";
import type { ResponseRequest } from "./response-id.ts";
import { ResponseSighting } from "./response-sighting.ts";

/**
 * Relays a request for a response by id to the upstream that created it. A recorded response is visible only to keys of its
 * project. Throws not_found.
 */
export async function relayResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  { responseRequest, ...options }: ModelRelayOptions & { readonly responseRequest: ResponseRequest },
): Promise<void> {
  const { gateway, settings, recorder, clock, responses, meter } = options;
  const known = responses.get(responseRequest.id);
  const recorded = known?.recorded;
  if (recorded !== undefined && !mayUse(request, recorded.project)) {
    throw new AppError("not_found", "Response not found.");
  }
  const project = recorded?.project ?? projectOf(request).project;
  const target = await targetOfResponse(responseRequest, {
    ...options,
    project,
    known: known?.upstream,
    request,
  });
  if (!gateway.enter(request, reply)) return;
  if (project !== undefined) recorder.admit({ project, key: request.grant.keyId });
  const limits = {
    limitBytes: settings.chatBodyLimitBytes,
    idleMs: settings.uploadIdleMs,
    hold: (bytes: number): void => request.server.bodies.hold(request, bytes),
  };
  const body = await bodyToSend(request.raw, limits);
  const observer =
    project === undefined || !responseRequest.isSighting
      ? undefined
      : new ResponseSighting({
          id: responseRequest.id,
          known: recorded,
          project,
          apiKey: request.grant.keyId,
          requestId: request.id,
          upstream: target.name,
          provider: target.provider,
          recorder,
          clock,
          captureContent: settings.captureContent,
        });
  await gateway.relay(request, reply, {
    route: "responses by id",
    meter,
    target,
    upstreamRequest: {
      method: request.method,
      path: targetUnder(target.upstream.base, pathBehindPrefix(request.url)),
      headers: headersFor(request, target, body),
      body,
    },
    wrapsErrors: false,
    openStream: (onEvent) => RESPONSES.openStream({ hideUsage: false, onEvent }),
    repeatable: true,
    keepAliveMs: settings.sseKeepAliveMs,
    stallMs: settings.stallMs,
    observer,
  });
}

interface MakerQuery extends ModelRelayOptions {
  readonly request: FastifyRequest;
  readonly project: Project | undefined;
  /** Upstream name, if known to this process. */
  readonly known: string | undefined;
}

/** Returns the upstream that created the response; an unknown response is routed by path. */
async function targetOfResponse(
  { id }: ResponseRequest,
  { gateway: { upstreams }, makers, project, known, request }: MakerQuery,
): Promise<Target> {
  const names = upstreams.modelTargets.map(({ name }) => name);
  const maker =
    known ??
    (project === undefined || names.length < 2
      ? undefined
      : await makers.findMaker(project, id, names).catch(() => undefined));
  const target = maker === undefined ? undefined : upstreams.named(maker);
  return target ?? upstreams.targetFor({ path: pathBehindPrefix(request.url) });
}

function mayUse({ grant }: FastifyRequest, project: Project): boolean {
  try {
    return grant.project(project) === project;
  } catch {
    return false;
  }
}
