import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { FastifyInstance } from "fastify";

const SANE = /^[\w.:/+=@-]{1,128}$/;

/** The client's `x-request-id` when it is a sane one, else one of ours. */
export function requestIdOf(request: IncomingMessage): string {
  const sent = request.headers["x-request-id"];
  return typeof sent === "string" && SANE.test(sent) ? sent : randomUUID();
}

/** Every answer carries its request id, errors and streams included. */
export function registerRequestId(app: FastifyInstance): void {
  app.addHook("onRequest", (request, reply, done) => {
    void reply.header("x-request-id", request.id);
    done();
  });
}
