import type { FastifyInstance, FastifyRequest } from "fastify";
import { AppError } from "../shared/errors.ts";
import { parseJson } from "../shared/json.ts";

/**
 * JSON bodies as real clients send them: with or without a Content-Type, with the numbers that `parseJson` takes.
 * An empty body is `undefined`, which the route's schema then reports as missing.
 */
export function registerJsonBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(/^application\/(.+\+)?json/, { parseAs: "string" }, (_request, body, done) =>
    parseInto(body as string, done),
  );
  app.addContentTypeParser("*", { parseAs: "string" }, (request: FastifyRequest, body, done) => {
    if (request.headers["content-type"] === undefined) return parseInto(body as string, done);
    return done(new AppError("unsupported_media_type", "This route takes application/json."));
  });
}

function parseInto(body: string, done: (error: Error | null, value?: unknown) => void): void {
  if (body === "") return done(null, undefined);
  let value: unknown;
  try {
    value = parseJson(body);
  } catch (error) {
    return done(new AppError("bad_request", "The body is not JSON.", { cause: error }));
  }
  return done(null, value);
}
