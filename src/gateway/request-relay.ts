import type { FastifyReply, FastifyRequest } from "fastify";
import type { z } from "zod";
import { isJsonObject } from "../shared/json.ts";
import type { TrainingJobs } from "../training-jobs/training-jobs.ts";
import type { Gateway } from "./gateway.ts";
import { JobCreation } from "./job-creation.ts";
import { routeQueryOf, routeRequest } from "./route-request.ts";
import type { Target } from "./upstreams.ts";
import type { NamedCheck } from "./ownership/request-check.ts";
import { accessOf, type ResourceAccess, type ResourceRoute } from "./ownership/resource-access.ts";
import { noBody, scannedBody } from "./ownership/scanned-body.ts";
import { readValidatedBody } from "./relay/validated-body.ts";
import { bodyToSend, uploadOptions } from "./relay/upload.ts";
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
  readonly jobs: TrainingJobs;
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
  const job = access && jobCreation(request, access, options);
  if (!gateway.enter(request, reply)) return;
  let failure: unknown;
  try {
    const { target, body } = await routedBody(request, options, { access, job });
    await job?.send(body);
    options.onSend?.();
    await gateway.relay(request, reply, {
      route,
      target,
      body,
      wrapsErrors,
      repeatable,
      rewrite: access?.rewrite(job && ((id, owner) => job.recording.created(id, owner))),
      onAnswer: job && ((status) => job.answered(status)),
    });
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    await job?.end(failure, reply);
  }
}

/** Undefined for a request that creates no job of a project. */
function jobCreation(
  request: FastifyRequest,
  access: ResourceAccess,
  { resource, body, ...deps }: RequestRelayOptions,
): JobCreation | undefined {
  const isOwned = access.owner() !== undefined || body.kind === "typed" || !request.grant.covers("*");
  if (resource?.job === undefined || !isOwned) return undefined;
  return new JobCreation(request, resource.job, { ...deps, access });
}

async function routedBody(
  request: FastifyRequest,
  options: RequestRelayOptions,
  { access, job }: { access: ResourceAccess | undefined; job: JobCreation | undefined },
): Promise<{ readonly target: Target; readonly body: UpstreamRequest["body"] }> {
  const { body: policy, gateway } = options;
  const limits = { ...uploadOptions(request, policy.limitBytes), onChunk: job?.onChunk };
  const check = async (body: unknown, isWhole?: boolean): Promise<void> => {
    await access?.checkBody(body, isWhole);
    if (policy.kind === "typed") job?.readBy(() => (isJsonObject(body) ? body : undefined));
  };
  const training = (): Target => gateway.upstreams.training();
  if (policy.kind === "typed")
    return {
      target: training(),
      body: await readValidatedBody(request.raw, { ...policy, ...limits, check }),
    };
  const isChecked = access !== undefined && !request.grant.covers("*");
  if (policy.kind === "streamed" && isChecked)
    return { target: training(), body: await scannedBody(request, limits, { check, job }) };
  if (job !== undefined)
    return { target: training(), body: await bodyToSend(request.raw, { ...limits, check: job.check }) };
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
