import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { statusOf, toAppError } from "../http/errors.ts";
import { AppError } from "../shared/errors.ts";
import { errorBodyOf } from "./error-envelope.ts";

/** Time a client may keep sending after its response. */
const LINGER_MS = 3000;

/** Registers error handlers under `/v1` that old and new SDKs can read. */
export function registerGatewayErrors(app: FastifyInstance): void {
  app.setErrorHandler(sendGatewayError);
  app.setNotFoundHandler(() => {
    throw new AppError("not_found", "No route for this path.");
  });
  app.addHook("onRequest", ({ raw: request }, { raw: response }, done) => {
    response.once("close", () => {
      if (request.complete) return;
      // closing the connection while the client sends would lose the response
      request.resume();
      setTimeout(() => {
        if (!request.complete) request.destroy();
      }, LINGER_MS).unref();
    });
    done();
  });
}

export function sendGatewayError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = toAppError(error);
  if (known === undefined) request.log.error({ err: error }, "request failed");
  const shown = known ?? new AppError("internal", `Internal error. Request id: ${request.id}`);
  if (shown.retryAfterSeconds !== undefined) {
    void reply.header("retry-after", String(shown.retryAfterSeconds));
    void reply.header("retry-after-ms", String(shown.retryAfterSeconds * 1000));
  }
  // Claude Code repeats a 401 for minutes
  if (shown.code === "unauthenticated" || shown.code === "forbidden")
    void reply.header("x-should-retry", "false");
  return reply.code(statusOf(shown)).send(errorBodyOf(shown, request));
}
