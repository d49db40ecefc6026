import type { FastifyReply, FastifyRequest } from "fastify";
import type { z } from "zod";
import type { Gateway } from "./gateway.ts";
import type { Target } from "./upstreams.ts";
import { OpaqueStream } from "./stream/chat-stream.ts";
import type { OwnerLedger } from "./ownership/ledger/owner-ledger.ts";
import { ResourceAccess, type ResourceRoute } from "./ownership/resource-access.ts";
import { scannedBody } from "./ownership/scanned-body.ts";
import { isJson, upstreamHeaders } from "./relay/headers.ts";
import type { RelayMetrics, RelayObserver } from "./relay/relay.ts";
import { readValidatedBody } from "./relay/validated-body.ts";
import { bodyToSend, contentLengthOf } from "./relay/upload.ts";
import type { UpstreamRequest } from "./relay/upstream.ts";
import { pathBehindPrefix, targetUnder } from "./relay/upstream-path.ts";

export type BodyPolicy =
  | { readonly kind: "typed"; readonly schema: z.ZodType; readonly limitBytes: number }
  /** `isJson`: whatever its media type; otherwise only a body labelled as JSON is. */
  | { readonly kind: "streamed"; readonly limitBytes: number; readonly isJson?: boolean };

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
  readonly ledger: OwnerLedger;
  readonly resource: ResourceRoute;
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
    ledger,
    resource,
  }: RequestRelayOptions,
): Promise<void> {
  const access = await ResourceAccess.of(request, ledger, resource);
  if (!gateway.enter(request, reply)) return;
  const body = await bodyFor(request, policy, { idleMs: settings.uploadIdleMs, access });
  const rewrite = access?.rewrite;
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
    rewrite: rewrite && { onlyJson: !resource.isKnown, run: rewrite },
  });
}

async function bodyFor(
  request: FastifyRequest,
  policy: BodyPolicy,
  { idleMs, access }: { idleMs: number; access: ResourceAccess | undefined },
): Promise<UpstreamRequest["body"]> {
  const hold = (bytes: number): void => request.server.bodies.hold(request, bytes);
  const limits = { limitBytes: policy.limitBytes, idleMs, hold };
  const check = async (body: unknown, isWhole?: boolean): Promise<void> => access?.checkBody(body, isWhole);
  if (policy.kind === "typed") return readValidatedBody(request.raw, { ...policy, ...limits, check });
  const { "content-type": type = "application/json" } = request.headers;
  if (access?.readsBody === true && (policy.isJson === true || isJson(type)))
    return scannedBody(request, limits, { isKnown: policy.isJson === true, check });
  await check(undefined);
  return bodyToSend(request.raw, limits);
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
