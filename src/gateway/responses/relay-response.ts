import type { FastifyReply, FastifyRequest } from "fastify";
import type { ModelRelayOptions } from "../relay-model-api.ts";
import { projectOf } from "../request-project.ts";
import { RESPONSES } from "../apis/model-apis.ts";
import { notFound } from "../ownership/resource-access.ts";
import { checkedBody, headersFor } from "../request-relay.ts";
import { bodyToSend } from "../relay/upload.ts";
import { pathBehindPrefix, targetUnder } from "../relay/upstream-path.ts";
import { makerOf } from "./maker-of.ts";
import type { ResponseRequest } from "./response-id.ts";
import { ResponseSighting } from "./response-sighting.ts";

/**
 * Relays a request for a response by id to the upstream that created it. Only keys of all projects see one that no project of
 * theirs has made. Errors: not_found.
 */
export async function relayResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  { responseRequest, ...options }: ModelRelayOptions & { readonly responseRequest: ResponseRequest },
): Promise<void> {
  const { gateway, settings, recorder, clock, responses, meter } = options;
  const known = responses.get(responseRequest.id);
  const seesAll = request.grant.covers("*");
  const maker = await makerOf(request, responseRequest.id, options);
  if (!seesAll && maker === undefined) throw notFound("Response");
  const recorded =
    known !== undefined && request.grant.covers(known.recorded.project) ? known.recorded : undefined;
  const project = recorded?.project ?? projectOf(request).project;
  const { upstreams } = gateway;
  const made = maker === undefined ? undefined : upstreams.named(maker);
  // one made elsewhere is routed by path
  const target = made ?? upstreams.targetFor({ path: pathBehindPrefix(request.url) });
  if (!gateway.enter(request, reply)) return;
  if (project !== undefined) recorder.admit({ project, key: request.grant.keyId });
  const limits = {
    limitBytes: settings.chatBodyLimitBytes,
    idleMs: settings.uploadIdleMs,
    hold: (bytes: number): void => request.server.bodies.hold(request, bytes),
  };
  const body = await (seesAll
    ? bodyToSend(request.raw, limits)
    : checkedBody(request, limits, { ...options, target }));
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
