import type { FastifyInstance, FastifyRequest, RequestPayload } from "fastify";
import { AppError } from "../shared/errors.ts";
import { parseJson } from "../shared/json.ts";
import { turnOf } from "../fairness/turns.ts";
import { tenantOf } from "./auth/tenant-of.ts";
import { LargeBody } from "./bodies/large-body.ts";

/** Body size parsed without waiting in the fair queue: about 1 ms of CPU. */
const MAX_AT_ONCE_BYTES = 64 * 1024;

/**
 * Parses JSON bodies with or without a Content-Type, numbers as `parseJson` does. An empty body is `undefined`, which the
 * route's schema reports as missing.
 */
export function registerJsonBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  const read = async (request: FastifyRequest, payload: RequestPayload): Promise<unknown> => {
    const body = await app.bodies.readJson(request, payload);
    if (body instanceof LargeBody) return body;
    if (body.length > MAX_AT_ONCE_BYTES) await turnOf(tenantOf(request));
    return parseBody(body);
  };
  app.addContentTypeParser(/^application\/(.+\+)?json/, read);
  app.addContentTypeParser("*", async (request: FastifyRequest, payload: RequestPayload) => {
    if (request.headers["content-type"] === undefined) return read(request, payload);
    throw new AppError("unsupported_media_type", "This route accepts application/json.");
  });
}

function parseBody(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  try {
    return parseJson(body.toString("utf8"));
  } catch (error) {
    throw new AppError("bad_request", "The body is not JSON.", { cause: error });
  }
}
