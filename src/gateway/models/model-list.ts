import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../shared/errors.ts";
import { normalizePath } from "../apis/endpoint-paths.ts";
import type { Gateway } from "../gateway.ts";
import { hasOwnCredentials } from "../relay/credentials.ts";
import { pathBehindPrefix } from "../relay/upstream-path.ts";
import type { Target } from "../upstreams.ts";
import { fetchModels } from "./fetch-models.ts";
import { mergeModelLists, type ListShape } from "./list-shapes.ts";

/** True for a request of the model list. */
export function isModelListRequest({ method, url }: FastifyRequest): boolean {
  return method === "GET" && normalizePath(pathBehindPrefix(url)) === "/models";
}

/** Returns the upstream whose list can be relayed unchanged; `undefined` if lists must be merged or converted. */
export function singleLister(request: FastifyRequest, { upstreams }: Gateway): Target | undefined {
  const targets = upstreams.modelTargets;
  const shape = shapeFor(request);
  // the client's own credentials belong to the API whose format it uses
  if (hasOwnCredentials(request)) {
    const api = shape === "anthropic" ? "anthropic" : "openai";
    return targets.find((target) => target.api === api) ?? targets[0];
  }
  const [only, ...others] = targets;
  const isAsItIs = others.length === 0 && only !== undefined && (shape === "codex" || only.api === shape);
  return isAsItIs ? only : undefined;
}

/**
 * Responds with the merged models of all upstreams, except those that fail. Throws upstream_not_configured,
 * upstream_unreachable.
 */
export async function listModels(
  request: FastifyRequest,
  reply: FastifyReply,
  gateway: Gateway,
): Promise<FastifyReply> {
  const targets = gateway.upstreams.modelTargets;
  if (targets.length === 0) gateway.upstreams.targetFor({ path: "/models" });
  if (!gateway.enter(request, reply)) return reply;
  const lists = await Promise.all(targets.map((target) => fetchModels(target, request.id)));
  const known = lists.filter((list) => list !== undefined);
  if (known.length === 0) throw new AppError("upstream_unreachable", "No upstream returned its model list.");
  return reply.type("application/json").send(JSON.stringify(mergeModelLists(known, shapeFor(request))));
}

function shapeFor({ headers, url }: FastifyRequest): ListShape {
  if (headers["anthropic-version"] !== undefined) return "anthropic";
  return /[?&]client_version=/.test(url) ? "codex" : "openai";
}
