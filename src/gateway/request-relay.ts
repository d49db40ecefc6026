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

/** Relays a request with the checks its route declares, otherwise unchanged. */
export async function relayRequest(
  request: FastifyRequest,
  reply: FastifyReply,
  {
    gateway,
    target,
    meter,
    settings,
    route,
    body: policy,
    wrapsErrors,
    repeatable,
    observer,
  }: RequestRelayOptions,
): Promise<void> {
  if (!gateway.enter(request, reply)) return;
  const body = await bodyFor(request, policy, settings.uploadIdleMs);
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
  policy: BodyPolicy,
  idleMs: number,
): Promise<UpstreamRequest["body"]> {
  const hold = (bytes: number): void => request.server.bodies.hold(request, bytes);
  return policy.kind === "typed"
    ? readValidatedBody(request.raw, {
        ...policy,
        idleMs,
        hold,
        check: (body) => checkNamedInBody(request.grant, body),
      })
    : bodyToSend(request.raw, { limitBytes: policy.limitBytes, idleMs, hold });
}

/** Builds the upstream request headers for a body. */
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
