import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../shared/errors.ts";
import type { Project } from "../../shared/project.ts";
import { projectOf, type ModelRelayOptions } from "../relay-model-api.ts";
import { RESPONSES } from "../apis/model-apis.ts";
import { headersFor } from "../request-relay.ts";
import { bodyToSend } from "../relay/upload.ts";
import { pathBehindPrefix, targetUnder } from "../relay/upstream-path.ts";
import type { Target } from "../upstreams.ts";
import type { AskedResponse } from "./response-id.ts";
import { ResponseSighting } from "./response-sighting.ts";

/**
 * Relays what is asked of a response by its id to the upstream that made it. A response that is recorded for a project
 * exists for the keys of that project alone. Errors: not_found.
 */
export async function relayResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  { asked, ...options }: ModelRelayOptions & { readonly asked: AskedResponse },
): Promise<void> {
  const { gateway, settings, recorder, clock, responses, meter } = options;
  const known = responses.get(asked.id);
  const recorded = known?.recorded;
  if (recorded !== undefined && !mayUse(request, recorded.project)) {
    throw new AppError("not_found", "There is no such response.");
  }
  const project = recorded?.project ?? projectOf(request).project;
  const target = await madeBy(asked, { ...options, project, known: known?.upstream, request });
  if (!gateway.enter(request, reply)) return;
  if (project !== undefined) recorder.admit({ project, key: request.grant.keyId });
  const limits = {
    limitBytes: settings.chatBodyLimitBytes,
    idleMs: settings.uploadIdleMs,
    hold: (bytes: number): void => request.server.bodies.hold(request, bytes),
  };
  const body = await bodyToSend(request.raw, limits);
  const observer =
    project === undefined || !asked.isSighting
      ? undefined
      : new ResponseSighting({
          id: asked.id,
          known: recorded,
          project,
          apiKey: request.grant.keyId,
          requestId: request.id,
          upstream: target.name,
          provider: target.provider,
          recorder,
          clock,
          keepContent: settings.keepContent,
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

interface Making extends ModelRelayOptions {
  readonly request: FastifyRequest;
  readonly project: Project | undefined;
  /** The name of the upstream, as far as this process knows it. */
  readonly known: string | undefined;
}

/** One made elsewhere leads where its path does. */
async function madeBy(
  { id }: AskedResponse,
  { gateway: { upstreams }, makers, project, known, request }: Making,
): Promise<Target> {
  const names = upstreams.ofModels.map(({ name }) => name);
  const maker =
    known ??
    (project === undefined || names.length < 2
      ? undefined
      : await makers.findMaker(project, id, names).catch(() => undefined));
  const target = maker === undefined ? undefined : upstreams.named(maker);
  return target ?? upstreams.leadingTo({ path: pathBehindPrefix(request.url) });
}

function mayUse({ grant }: FastifyRequest, project: Project): boolean {
  try {
    return grant.project(project) === project;
  } catch {
    return false;
  }
}
