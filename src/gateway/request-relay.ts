import type { FastifyReply, FastifyRequest } from "fastify";
import type { z } from "zod";
import type { Gateway } from "./gateway.ts";
import { routeQueryOf, routeRequest } from "./route-request.ts";
import type { Target } from "./upstreams.ts";
import type { NamedCheck } from "./ownership/request-check.ts";
import { accessOf, type ResourceAccess, type ResourceRoute } from "./ownership/resource-access.ts";
import { noBody, scannedBody } from "./ownership/scanned-body.ts";
import { readValidatedBody } from "./relay/validated-body.ts";
import { uploadOptions } from "./relay/upload.ts";
import type { UpstreamRequest } from "./relay/upstream.ts";

export type BodyPolicy =
  | { readonly kind: "typed"; readonly schema: z.ZodType; readonly limitBytes: number }
  /** `other`: of a route none, except for keys of all projects; on other paths, read whole for keys of projects. */
  | { readonly kind: "streamed" | "other"; readonly limitBytes: number };

export interface RequestRelayOptions extends Omit<NamedCheck, "target"> {
  readonly gateway: Gateway;
  /** Set if path and model do not decide. */
  readonly target?: Target | undefined;
  readonly settings: Record<"chatBodyLimitBytes", number>;
  readonly route: string;
  readonly body: BodyPolicy;
  readonly wrapsErrors: boolean;
  readonly repeatable: boolean;
  /** Called when the request is about to be sent. */
  readonly onSend?: (() => void) | undefined;
  /** Undefined outside the training service, and for what only passes. */
  readonly resource: ResourceRoute | undefined;
}

/** Relays a request with the checks its route declares, otherwise unchanged. */
export async function relayRequest(
  request: FastifyRequest,
  reply: FastifyReply,
  options: RequestRelayOptions,
): Promise<void> {
  const { gateway, route, wrapsErrors, repeatable, resource } = options;
  const access = resource && (await accessOf(request, options.ledger, resource));
  if (!gateway.enter(request, reply)) return;
  const { target, body } = await routedBody(request, options, access);
  const rewrite = access?.rewrite();
  options.onSend?.();
  await gateway.relay(request, reply, {
    route,
    target,
    body,
    wrapsErrors,
    repeatable,
    rewrite,
  });
}

async function routedBody(
  request: FastifyRequest,
  options: RequestRelayOptions,
  access: ResourceAccess | undefined,
): Promise<{ readonly target: Target; readonly body: UpstreamRequest["body"] }> {
  const { body: policy, gateway } = options;
  const limits = uploadOptions(request, policy.limitBytes);
  const check = async (body: unknown, isWhole?: boolean): Promise<void> => access?.checkBody(body, isWhole);
  const training = (): Target => gateway.upstreams.training();
  if (policy.kind === "typed")
    return {
      target: training(),
      body: await readValidatedBody(request.raw, { ...policy, ...limits, check }),
    };
  const isChecked = access !== undefined && !request.grant.covers("*");
  if (policy.kind === "streamed" && isChecked)
    return { target: training(), body: await scannedBody(request, limits, check) };
  if (isChecked) return { target: training(), body: await noBody(request, limits) };
  const { target, read } = await routeRequest(request, {
    ...options,
    query: routeQueryOf(request),
    isRecorded: false,
    includeUsage: false,
    limits,
  });
  return { target, body: read.body };
}
