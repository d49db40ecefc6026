import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../shared/errors.ts";
import { normalizePath } from "../apis/endpoint-paths.ts";
import type { Json } from "../apis/draft.ts";
import type { Gateway } from "../gateway.ts";
import { hasOwnCredentials } from "../relay/credentials.ts";
import { pathBehindPrefix } from "../relay/upstream-path.ts";
import type { Target } from "../upstreams.ts";
import { fetchModels, idOf, type ListedModels } from "./fetch-models.ts";

/** Model list format of an API. */
type ListShape = "openai" | "anthropic" | "codex";

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
  if (only === undefined || others.length > 0) return undefined;
  return only.api === shape || (shape === "codex" && only.api !== "gemini") ? only : undefined;
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

/** Merges model lists in upstream order; the first of equal ids wins. */
function mergeModelLists(lists: readonly ListedModels[], shape: ListShape): Json {
  const known = new Map<string, Json>();
  for (const { items, provider } of lists) {
    for (const item of items) {
      const id = idOf(item)!;
      if (!known.has(id)) known.set(id, inShape(item, { id, provider, shape }));
    }
  }
  const data = [...known.values()];
  if (shape === "codex") return { models: data };
  if (shape === "openai") return { object: "list", data };
  const [first_id = null] = known.keys();
  return { data, has_more: false, first_id, last_id: [...known.keys()].at(-1) ?? null };
}

/** Converts an item to the requested format; an item already in it passes unchanged. */
function inShape(
  item: Json,
  { id, provider, shape }: { id: string; provider: string; shape: ListShape },
): Json {
  if (shape === "codex") return item["slug"] === undefined ? { slug: id, ...item } : item;
  const { created, created_at: createdAt, display_name: name, displayName, owned_by: owner } = item;
  if (shape === "openai") {
    if (item["object"] === "model") return item;
    const seconds = Math.floor(Date.parse(String(createdAt)) / 1000);
    const since = typeof created === "number" ? created : Number.isFinite(seconds) ? seconds : 0;
    return { ...item, id, object: "model", created: since, owned_by: owner ?? provider };
  }
  if (item["type"] === "model") return item;
  const since = typeof created === "number" && created < 1e11 ? created : 0;
  return {
    type: "model",
    id,
    display_name: [name, displayName].find((one) => typeof one === "string") ?? id,
    created_at: typeof createdAt === "string" ? createdAt : new Date(since * 1000).toISOString(),
  };
}
