import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../shared/errors.ts";
import { normalizePath } from "../apis/endpoint-paths.ts";
import type { Gateway } from "../gateway.ts";
import { hasOwnCredentials } from "../relay/headers.ts";
import { pathBehindPrefix } from "../relay/upstream-path.ts";
import type { Target } from "../upstreams.ts";
import { fetchModels } from "./fetch-models.ts";
import { joined, type ListShape } from "./list-shapes.ts";

/** Whether a request asks for the list of all models. */
export function asksForModels({ method, url }: FastifyRequest): boolean {
  return method === "GET" && normalizePath(pathBehindPrefix(url)) === "/models";
}

/** The upstream whose own list is the answer; undefined if lists have to be joined, or written in another form. */
export function listedBy(request: FastifyRequest, { upstreams }: Gateway): Target | undefined {
  const targets = upstreams.ofModels;
  const shape = shapeFor(request);
  // credentials of a client are for the API that it speaks
  if (hasOwnCredentials(request.headers)) {
    const api = shape === "anthropic" ? "anthropic" : "openai";
    return targets.find((target) => target.api === api) ?? targets[0];
  }
  const [only, ...others] = targets;
  const isAsItIs = others.length === 0 && only !== undefined && (shape === "codex" || only.api === shape);
  return isAsItIs ? only : undefined;
}

/** Answers with the models of all upstreams. Those that fail are left out. Errors: upstream_not_configured, upstream_unreachable. */
export async function listModels(
  request: FastifyRequest,
  reply: FastifyReply,
  gateway: Gateway,
): Promise<FastifyReply> {
  const targets = gateway.upstreams.ofModels;
  if (targets.length === 0) gateway.upstreams.leadingTo({ path: "/models" });
  if (!gateway.enter(request, reply)) return reply;
  const lists = await Promise.all(targets.map((target) => fetchModels(target, request.id)));
  const known = lists.filter((list) => list !== undefined);
  if (known.length === 0) throw new AppError("upstream_unreachable", "No upstream lists its models.");
  return reply.type("application/json").send(JSON.stringify(joined(known, shapeFor(request))));
}

function shapeFor({ headers, url }: FastifyRequest): ListShape {
  if (headers["anthropic-version"] !== undefined) return "anthropic";
  return /[?&]client_version=/.test(url) ? "codex" : "openai";
}
