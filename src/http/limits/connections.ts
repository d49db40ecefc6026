import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { Gauge, type Registry } from "prom-client";
import { hasOwnLimits } from "./has-own-limits.ts";

/**
 * Refuses connections above `max`. On shutdown, connections without a request close at once, others after their response, all
 * after `closeMs`. Node alone would wait for a connection that has sent no request yet.
 */
export function registerConnections(
  app: FastifyInstance,
  { max, closeMs, registry }: { max: number; closeMs: number; registry: Registry },
): void {
  const sockets = new Set<Socket>();
  const open = new Set<ServerResponse>();
  let closing = false;
  app.server.maxConnections = max;
  app.server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  app.server.on("request", ({ socket }, response) => {
    open.add(response);
    response.once("close", () => {
      open.delete(response);
      if (closing) socket.destroySoon();
    });
  });
  app.addHook("preClose", async () => {
    closing = true;
    const busy = new Set<Socket>();
    for (const response of open) {
      response.shouldKeepAlive = false;
      busy.add(response.req.socket);
    }
    for (const socket of sockets) if (!busy.has(socket)) socket.destroySoon();
    setTimeout(() => app.server.closeAllConnections(), closeMs).unref();
  });
  const count: Gauge = new Gauge({
    name: "sumtree_http_open_connections",
    help: "Open client connections",
    registers: [registry],
    collect: () => count.set(sockets.size),
  });
}

/**
 * Ends a request on whose connection nothing moved for the server's timeout, if that is the client's fault: it sends no more
 * of its body (408), or reads no more of its response. The gateway ends its responses itself, after a longer time.
 */
export function registerStalledClients(app: FastifyInstance): void {
  app.addHook("onRequest", ({ raw: request, routeOptions, log }, { raw: response }, done) => {
    response.on("timeout", (socket: Socket) => {
      const sendsNothing = !request.complete && request.readableFlowing === true;
      const isUnread = response.writableNeedDrain || response.writableEnded;
      if (isUnread && !hasOwnLimits(routeOptions.config)) {
        log.warn("the client does not take its response");
        socket.destroy();
      } else if (sendsNothing) {
        log.warn("the client does not send its body");
        if (!response.headersSent) app.server.emit("clientError", new RequestTimeout(), socket);
        // with the 408 in the kernel, and without waiting for a client that reads nothing either
        setImmediate(() => socket.destroy());
      } else {
        socket.setTimeout(socket.timeout ?? 0);
      }
    });
    done();
  });
}

/** Error of Node for a request that takes too long to arrive. */
class RequestTimeout extends Error {
  readonly code = "ERR_HTTP_REQUEST_TIMEOUT";
}
