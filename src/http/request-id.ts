import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { FastifyInstance } from "fastify";

const SANE = /^[\w.:/+=@-]{1,128}$/;

/** Returns the client's `x-request-id` if it is well-formed, else a new id. */
export function requestIdOf(request: IncomingMessage): string {
  const sent = request.headers["x-request-id"];
  return typeof sent === "string" && SANE.test(sent) ? sent : randomUUID();
}

/** Adds the request id to every response, including errors and streams. */
export function registerRequestId(app: FastifyInstance): void {
  app.addHook("onRequest", (request, reply, done) => {
    void reply.header("x-request-id", request.id);
    done();
  });
}
