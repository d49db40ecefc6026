import { isIP } from "node:net";
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Gauge, Histogram, type Registry } from "prom-client";

/**
 * Writes a log line and a metric observation when a request ends. Both name the declared route; the log never contains
 * paths, queries, headers or bodies of clients.
 */
export function registerRequestLog(app: FastifyInstance, registry: Registry): void {
  const seconds = new Histogram({
    name: "sumtree_http_request_duration_seconds",
    help: "Duration of requests, from arrival to the end of the response",
    labelNames: ["method", "route", "status"],
    buckets: [0.002, 0.01, 0.05, 0.2, 1, 5, 30, 120],
    registers: [registry],
  });
  const open = new Gauge({
    name: "sumtree_http_open_requests",
    help: "Open requests",
    registers: [registry],
  });
  app.addHook("onRequest", (request, reply, done) => {
    open.inc();
    const began = performance.now();
    const address = addressOf(request);
    let complete = false;
    // hooks, signals and the pipe of a stream each add a listener
    reply.raw.setMaxListeners(24);
    reply.raw.once("finish", () => {
      complete = true;
    });
    reply.raw.once("close", () => {
      open.dec();
      const durationMs = performance.now() - began;
      const { method, route, status } = factsOf(request, reply);
      seconds.observe({ method, route, status }, durationMs / 1000);
      const level = request.routeOptions.config.access === "public" ? "debug" : "info";
      request.log[level](
        {
          method,
          route,
          status,
          duration_ms: Math.round(durationMs * 10) / 10,
          key_id: request.grant?.keyId,
          address,
          complete,
        },
        "request",
      );
    });
    done();
  });
}

/** Wraps a logger so that libraries cannot log request headers. */
export function withoutHeaders(logger: FastifyBaseLogger): FastifyBaseLogger {
  return logger.child({}, { serializers: { busboyOptions: () => undefined } });
}

const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Returns the client address; behind a trusted proxy, the reported one if it is a valid address. */
export function addressOf({ ip, socket }: FastifyRequest): string | undefined {
  return isIP(ip) === 0 ? socket.remoteAddress : ip;
}

function factsOf(request: FastifyRequest, reply: FastifyReply) {
  return {
    method: METHODS.has(request.method) ? request.method : "other",
    route: request.routeOptions.url ?? "none",
    status: reply.raw.headersSent ? reply.raw.statusCode : 0,
  };
}
