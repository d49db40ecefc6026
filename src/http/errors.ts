import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { StorageError } from "../store/storage-error.ts";
import { assertNever } from "../shared/assert-never.ts";
import { AppError, type ErrorCode, type Issue } from "../shared/errors.ts";

/** Error body outside `/v1`. */
export interface ErrorBody {
  readonly detail: string | readonly Issue[];
}

const statusByCode = {
  bad_request: 400,
  unauthenticated: 401,
  budget_exceeded: 402,
  unknown_price: 402,
  forbidden: 403,
  project_required: 403,
  unmetered_endpoint: 403,
  not_found: 404,
  method_not_allowed: 405,
  client_stalled: 408,
  already_running: 409,
  payload_too_large: 413,
  too_many_calls: 413,
  unsupported_media_type: 415,
  validation: 422,
  upgrade_required: 426,
  too_many_requests: 429,
  concurrency_limit: 429,
  budget_held: 429,
  internal: 500,
  upstream_unreachable: 502,
  upstream_broken: 502,
  upstream_invalid: 502,
  service_overloaded: 503,
  store_unavailable: 503,
  store_overloaded: 503,
  upstream_not_configured: 503,
  query_timeout: 504,
  query_memory: 504,
  upstream_timeout: 504,
  storage_full: 507,
} satisfies Record<ErrorCode, number>;

/** All codes, in the order of their statuses. */
export const errorCodes = Object.keys(statusByCode) as readonly ErrorCode[];

export function statusOf(error: Pick<AppError, "code">): number {
  return statusByCode[error.code];
}

/** Converts anything thrown to an `AppError`; undefined for an internal error, whose details clients must not see. */
export function toAppError(error: unknown): AppError | undefined {
  if (error instanceof AppError) return error;
  if (error instanceof StorageError) return fromStorage(error);
  return fromFastify(error);
}

const NARROWER =
  "Narrow it: a shorter window, a narrower filter, fewer traces or metrics, or a smaller limit.";

function fromStorage(error: StorageError): AppError | undefined {
  switch (error.kind) {
    case "unavailable":
      return new AppError("store_unavailable", "Store unreachable. Retry later.", {
        cause: error,
        retryAfterSeconds: 5,
      });
    case "read_only":
      return new AppError(
        "store_unavailable",
        "Store read-only: too few replicas, or ClickHouse Keeper, are available. Retry later.",
        { cause: error, retryAfterSeconds: 5 },
      );
    case "no_space":
      return new AppError("store_unavailable", "Store read-only: its disk is full.", {
        cause: error,
        retryAfterSeconds: 5,
      });
    case "overloaded":
      return new AppError("store_overloaded", "Store overloaded. Retry later.", {
        cause: error,
        retryAfterSeconds: 2,
      });
    case "timeout":
      return new AppError("query_timeout", `The query ran out of time. ${NARROWER}`, { cause: error });
    case "memory":
      return new AppError("query_memory", `The query ran out of memory. ${NARROWER}`, { cause: error });
    case "aborted":
    case "statement":
      return undefined;
    default:
      return assertNever(error.kind);
  }
}

/** Fastify's own errors. Source: https://fastify.dev/docs/latest/Reference/Errors/ */
function fromFastify(error: unknown): AppError | undefined {
  if (!(error instanceof Error)) return undefined;
  const status = "statusCode" in error ? error.statusCode : undefined;
  if (typeof status !== "number" || status < 400 || status >= 500) return undefined;
  const options = { cause: error };
  if (status === 404) return new AppError("not_found", "No route for this path.", options);
  if (status === 413)
    return new AppError("payload_too_large", "Body exceeds the limit of this route.", options);
  if (status === 415)
    return new AppError("unsupported_media_type", "Media type not supported by this route.", options);
  if (status === 429) {
    return new AppError("too_many_requests", "Too many requests. Try again later.", {
      ...options,
      retryAfterSeconds: 1,
    });
  }
  return new AppError("bad_request", badRequestText(error), options);
}

function badRequestText(error: Error): string {
  return "code" in error && error.code === "FST_ERR_CTP_INVALID_CONTENT_LENGTH"
    ? "Body length differs from Content-Length."
    : "Malformed request.";
}

export function errorBody(error: AppError): ErrorBody {
  return { detail: error.code === "validation" ? error.issues : error.message };
}

/** Maps errors to responses, and responds to unknown routes without reading their bodies. Register it before the routes. */
export function registerErrorHandling(app: FastifyInstance): void {
  const patterns = new Map<string, { pattern: RegExp; methods: Set<string> }>();
  app.addHook("onRoute", ({ url, method }) => {
    // preflights of any route arrive here; the gateway does not list the methods of its routes
    if (url === "*" || /^\/v1(?:beta)?\//.test(url)) return;
    const pattern = new RegExp(`^${url.replaceAll(".", "[.]").replaceAll(/:\w+/g, "[^/]+")}$`);
    const known = patterns.get(url) ?? { pattern, methods: new Set() };
    for (const one of [method].flat()) known.methods.add(one);
    patterns.set(url, known);
  });
  const allowedMethods = (path: string): readonly string[] => {
    const matching = [...patterns.values()].filter(({ pattern }) => pattern.test(path));
    return [...new Set(matching.flatMap(({ methods }) => [...methods]))].sort();
  };
  app.setErrorHandler((error: FastifyError, request, reply) => sendError(error, request, reply));
  const refuse = async (request: FastifyRequest, reply: FastifyReply): Promise<never> => {
    const path = request.url.split("?", 1)[0]!.replace(/(?<=.)\/$/, "");
    const allowed = allowedMethods(path);
    if (allowed.length === 0 || allowed.includes(request.method))
      throw new AppError("not_found", "No route for this path.");
    void reply.header("allow", allowed.join(", "));
    throw new AppError("method_not_allowed", `This route accepts ${allowed.join(", ")}.`);
  };
  app.setNotFoundHandler(refuse);
  app.addHook("onRequest", async (request, reply) => {
    if (request.is404) await refuse(request, reply);
  });
}

export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  // the client has left
  if (error instanceof StorageError && error.kind === "aborted") return reply.code(499).send();
  const known = toAppError(error);
  if (known === undefined) {
    request.log.error({ err: error }, "request failed");
    return reply.code(500).send({ detail: `Internal error. Request id: ${request.id}` } satisfies ErrorBody);
  }
  const status = statusOf(known);
  if (status >= 500) request.log.warn({ err: known, status }, "request refused");
  if (known.retryAfterSeconds !== undefined)
    void reply.header("retry-after", String(known.retryAfterSeconds));
  return reply.code(status).send(errorBody(known));
}
