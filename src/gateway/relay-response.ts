import type { FastifyReply, FastifyRequest } from "fastify";
import { normalizePath } from "./apis/endpoint-paths.ts";
import { RESPONSES } from "./apis/model-apis.ts";
import { notFound } from "./ownership/resource-access.ts";
import { unreadModelRequest } from "./recording/model-request.ts";
import { recordingOf, type ModelRelayOptions } from "./relay-model-api.ts";
import { uploadOptions } from "./relay/upload.ts";
import { pathBehindPrefix } from "./relay/upstream-path.ts";
import { projectOf } from "./named-projects.ts";
import { routeRequest } from "./route-request.ts";

/** Request for a response by its id. */
export interface ResponseRequest {
  readonly id: string;
  /** The upstream returns the response itself. */
  readonly isRetrieval: boolean;
}

const BY_ID = /^\/responses\/([\w.:=~-]+)(\/cancel|\/input_items)?$/;
const RETRIEVALS: ReadonlySet<string> = new Set(["GET ", "POST /cancel"]);
const OTHERS: ReadonlySet<string> = new Set(["DELETE ", "GET /input_items"]);

/** Parses a request for a response by id; `undefined` for any other request. */
export function parseResponseRequest({ method, url }: FastifyRequest): ResponseRequest | undefined {
  const [, id, subpath = ""] = BY_ID.exec(normalizePath(pathBehindPrefix(url))) ?? [];
  const operation = `${method} ${subpath}`;
  const isRetrieval = RETRIEVALS.has(operation);
  return id !== undefined && (isRetrieval || OTHERS.has(operation)) ? { id, isRetrieval } : undefined;
}

/**
 * Relays a request for a response by id to the upstream that created it. Only keys of all projects see one that no project of
 * theirs has made. Errors: not_found.
 */
export async function relayResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  {
    responseRequest: { id, isRetrieval },
    ...options
  }: ModelRelayOptions & { responseRequest: ResponseRequest },
): Promise<void> {
  const { gateway, settings, recorder, responses, holds } = options;
  const { upstreams } = gateway;
  const maker = await responses.makerFor(request, id);
  const seesAll = request.grant.covers("*");
  if (!seesAll && maker === undefined) throw notFound("Response");
  const project = maker?.project ?? projectOf(request).project;
  // one made elsewhere is routed by path
  const path = pathBehindPrefix(request.url);
  const target = (maker && upstreams.named(maker.upstream)) ?? upstreams.targetFor({ path });
  if (!gateway.enter(request, reply)) return;
  if (project !== undefined) recorder.admit();
  // it may end one; what runs may be polled while the store is away
  await holds.resume(options.clock.now()).catch(() => undefined);
  const limits = uploadOptions(request, settings.chatBodyLimitBytes);
  const routing = { ...options, query: { path }, target, isRecorded: false, includeUsage: false, limits };
  const { read } = await routeRequest(request, routing);
  const one = { hidesUsage: false, mayRepeat: false, retrieved: { id, maker } };
  const recorded = project && { ...options, project, modelApi: RESPONSES, target };
  await gateway.relay(request, reply, {
    route: "responses by id",
    target,
    path,
    body: read.body,
    modelApi: RESPONSES,
    wrapsErrors: false,
    repeatable: true,
    observer:
      recorded && isRetrieval ? recordingOf(request, recorded, () => unreadModelRequest(0), one) : undefined,
  });
}
