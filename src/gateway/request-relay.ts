import type { FastifyReply, FastifyRequest } from "fastify";
import type { z } from "zod";
import type { Gateway, Target } from "./gateway.ts";
import { upstreamHeaders } from "./relay/headers.ts";
import type { RelayMeter, RelayOptions } from "./relay/relay.ts";
import { readTypedBody } from "./relay/typed-body.ts";
import { bodyToSend, contentLengthOf } from "./relay/upload.ts";
import type { UpstreamRequest } from "./relay/upstream.ts";
import { pathBehindPrefix, targetUnder } from "./relay/upstream-path.ts";

export type BodyRule =
  | { readonly kind: "typed"; readonly schema: z.ZodType; readonly limitBytes: number }
  | { readonly kind: "streamed"; readonly limitBytes: number };

export interface RequestRelayOptions {
  readonly gateway: Gateway;
  readonly meter: RelayMeter;
  readonly settings: { readonly uploadIdleMs: number; readonly stallMs: number };
  readonly route: string;
  readonly body: BodyRule;
  readonly reads: RelayOptions["reads"];
  readonly repeatable: boolean;
}

/** Relays a request to the training upstream, with the checks that its route declares, otherwise unchanged. */
export async function relayRequest(
  request: FastifyRequest,
  reply: FastifyReply,
  { gateway, meter, settings, route, body: rule, reads, repeatable }: RequestRelayOptions,
): Promise<void> {
  const target = gateway.training();
  if (!gateway.enter(request, reply)) return;
  const body = await bodyFor(request, rule, settings.uploadIdleMs);
  await gateway.relay(request, reply, {
    route,
    meter,
    target,
    upstreamRequest: {
      method: request.method,
      path: targetUnder(target.upstream.base, pathBehindPrefix(request.url)),
      headers: headersFor(request, target, { body, identity: reads === "errors" }),
      body,
    },
    reads,
    repeatable,
    hideUsage: false,
    keepAliveMs: 0,
    stallMs: settings.stallMs,
    observer: undefined,
  });
}

function bodyFor(request: FastifyRequest, rule: BodyRule, idleMs: number): Promise<UpstreamRequest["body"]> {
  return rule.kind === "typed"
    ? readTypedBody(request.raw, { ...rule, idleMs })
    : bodyToSend(request.raw, { limitBytes: rule.limitBytes, idleMs });
}

/** The headers of the upstream request, for a body in the given form. */
export function headersFor(
  request: FastifyRequest,
  target: Target,
  { body, identity }: { body: UpstreamRequest["body"]; identity: boolean },
): Record<string, string | string[]> {
  return upstreamHeaders(request.headers, {
    authorization: target.authorization,
    requestId: request.id,
    contentLength: Buffer.isBuffer(body) ? body.length : contentLengthOf(request.raw),
    identity,
  });
}
