import type { FastifyRequest } from "fastify";
import type { Gateway } from "./gateway.ts";
import { checkNamed, readNamed, type NamedCheck } from "./ownership/request-check.ts";
import { geminiCallIn } from "./apis/endpoint-paths.ts";
import { bodyToSend } from "./relay/upload.ts";
import { pathBehindPrefix } from "./relay/upstream-path.ts";
import { readOrUpload, unread, type BodyReadOptions, type RelayedBody } from "./request-body.ts";
import type { RouteQuery, Target } from "./upstreams.ts";

export interface RouteOptions extends Omit<NamedCheck, "target">, Omit<BodyReadOptions, "needsModel"> {
  readonly gateway: Gateway;
  readonly query: RouteQuery;
  /** Set if path and model do not decide. */
  readonly target?: Target | undefined;
  /** The body is read for its record too. */
  readonly isRecorded: boolean;
  /** The whole body is read. */
  readonly needsBody?: boolean;
}

export interface RoutedRequest {
  readonly target: Target;
  readonly read: RelayedBody;
}

/**
 * Decides the upstream of a request by path and model. Reads the body if the route, the key or recording needs it, and checks
 * what it names. Errors: those of `readOrUpload`, `readNamed`, `targetFor` and `checkNamed`.
 */
export async function routeRequest(
  request: FastifyRequest,
  { query, target: fixed, isRecorded, needsBody = false, ...options }: RouteOptions,
): Promise<RoutedRequest> {
  const { upstreams } = options.gateway;
  const seesAll = request.grant.covers("*");
  const byModel = fixed === undefined && query.model === undefined && upstreams.dependsOnModel(query.path);
  const known = byModel ? undefined : (fixed ?? upstreams.targetFor(query));
  const needsModel = byModel || !seesAll || needsBody;
  if (known !== undefined && !needsModel && !isRecorded)
    return { target: known, read: unread(await bodyToSend(request.raw, options.limits), 0) };
  const read = await readOrUpload(request, { ...options, needsModel });
  const named = seesAll ? undefined : readNamed(request, read.plain());
  const target = known ?? upstreams.targetFor({ ...query, model: read.readModel() });
  if (named !== undefined) await checkNamed(request, named, { ...options, target });
  return { target, read };
}

/** Reads path and model of a request target; a request for a model by name is routed to its upstream. */
export function routeQueryOf({ url }: FastifyRequest): RouteQuery {
  const path = pathBehindPrefix(url);
  const model = geminiCallIn(path)?.model ?? /^(?:\/v1beta)?\/models\/([^/?#]+)/.exec(path)?.[1];
  return { path, model: model === undefined ? undefined : decoded(model) };
}

export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
