import type { FastifyInstance, FastifyRequest } from "fastify";
import { turnOf } from "../fairness/turns.ts";
import { AppError } from "../shared/errors.ts";
import { countValues } from "../shared/json-size.ts";
import { parseJson } from "../shared/json.ts";
import { tenantOf } from "./auth/tenant-of.ts";

/** Body size parsed uncounted and without waiting in the fair queue: about 1 ms of CPU. */
const MAX_AT_ONCE_BYTES = 64 * 1024;
/** Values and keys that hold the event loop for about a second, in the dearest forms. A batch of 100,000 calls has fewer. */
const MAX_VALUES = 4_000_000;
const BYTES_PER_VALUE = 32;

/**
 * Parses JSON bodies with or without a Content-Type, numbers as `parseJson` does. An empty body is `undefined`, which the
 * route's schema reports as missing.
 */
export function registerJsonBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  const parse = async (request: FastifyRequest, body: Buffer): Promise<unknown> => {
    if (body.length > MAX_AT_ONCE_BYTES) {
      await turnOf(tenantOf(request));
      const values = countValues(body, MAX_VALUES);
      if (values > MAX_VALUES) throw tooManyValues();
      request.holdBytes(values * BYTES_PER_VALUE);
    }
    return parseBody(body);
  };
  app.addContentTypeParser(/^application\/(.+\+)?json/, { parseAs: "buffer" }, parse);
  app.addContentTypeParser("*", { parseAs: "buffer" }, async (request: FastifyRequest, body: Buffer) => {
    if (request.headers["content-type"] === undefined) return parse(request, body);
    throw new AppError("unsupported_media_type", "This route accepts application/json.");
  });
}

function tooManyValues(): AppError {
  return new AppError(
    "payload_too_large",
    `A JSON body may have at most ${MAX_VALUES} values and keys. Send it in parts.`,
  );
}

function parseBody(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  try {
    return parseJson(body.toString("utf8"));
  } catch (error) {
    throw new AppError("bad_request", "The body is not JSON.", { cause: error });
  }
}
