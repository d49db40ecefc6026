import type { FastifyReply, FastifyRequest } from "fastify";
import type { z } from "zod";
import type { Gateway } from "./gateway.ts";
import type { Target } from "./upstreams.ts";
import { OpaqueStream } from "./stream/chat-stream.ts";
import { checkNamedInBody } from "./named-projects.ts";
import { upstreamHeaders } from "./relay/headers.ts";
import type { RelayMetrics, RelayObserver } from "./relay/relay.ts";
import { readValidatedBody } from "./relay/validated-body.ts";
import { bodyToSend, contentLengthOf } from "./relay/upload.ts";
import type { UpstreamRequest } from "./relay/upstream.ts";
import { pathBehindPrefix, targetUnder } from "./relay/upstream-path.ts";

export type BodyPolicy =
  | { readonly kind: "typed"; readonly schema: z.ZodType; readonly limitBytes: number }
  | { readonly kind: "streamed"; readonly limitBytes: number };

export interface RequestRelayOptions {
  readonly gateway: Gateway;
  readonly target: Target;
  readonly meter: RelayMetrics;
  readonly settings: { readonly uploadIdleMs: number; readonly stallMs: number };
  readonly route: string;
  readonly body: BodyPolicy;
  readonly wrapsErrors: boolean;
  readonly repeatable: boolean;
  readonly observer?: RelayObserver | undefined;
}

/** Relays a request to the training upstream, with the checks that its route declares, otherwise unchanged. */
export async function relayRequest(
  request: FastifyRequest,
  reply: FastifyReply,
  {
    gateway,
    target,
    meter,
    settings,
    route,
    body: rule,
    wrapsErrors,
    repeatable,
    observer,
  }: RequestRelayOptions,
): Promise<void> {
  if (!gateway.enter(request, reply)) return;
  const body = await bodyFor(request, rule, settings.uploadIdleMs);
  await gateway.relay(request, reply, {
    route,
    meter,
    target,
    upstreamRequest: {
      method: request.method,
      path: targetUnder(target.upstream.base, pathBehindPrefix(request.url)),
      headers: headersFor(request, target, body),
      body,
    },
    wrapsErrors,
    openStream: () => new OpaqueStream(),
    repeatable,
    keepAliveMs: 0,
    stallMs: settings.stallMs,
    observer,
  });
}

function bodyFor(
  request: FastifyRequest,
  rule: BodyPolicy,
  idleMs: number,
): Promise<UpstreamRequest["body"]> {
  const hold = (bytes: number): void => request.server.bodies.hold(request, bytes);
  return rule.kind === "typed"
    ? readValidatedBody(request.raw, {
        ...rule,
        idleMs,
        hold,
        check: (body) => checkNamedInBody(request.grant, body),
      })
    : bodyToSend(request.raw, { limitBytes: rule.limitBytes, idleMs, hold });
}

/** The headers of the upstream request, for a body in the given form. */
export function headersFor(
  request: FastifyRequest,
  target: Target,
  body: UpstreamRequest["body"],
): Record<string, string | string[]> {
  return upstreamHeaders(request.headers, {
    credential: target.credential,
    requestId: request.id,
    contentLength: Buffer.isBuffer(body) ? body.length : contentLengthOf(request.raw),
  });
}
