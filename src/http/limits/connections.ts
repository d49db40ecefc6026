import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { Counter, Gauge, type Registry } from "prom-client";
import { AppError } from "../../shared/errors.ts";

/** How many connections beyond the cap stay open for their 503. */
const MAX_REFUSED = 32;

/**
 * Limits the connections. At `max`, a new one replaces the one that has been idle longest. If none is idle, the new one
 * gets a 503.
 *
 * When the app closes, idle connections end at once, and the others after their last response, or after `closeMs`. Node
 * alone would wait for connections that never sent a request, and for those that respond after the close began.
 */
export function registerConnections(
  app: FastifyInstance,
  { max, closeMs, registry }: { max: number; closeMs: number; registry: Registry },
): void {
  /** Idle connections, the longest idle first. */
  const idle = new Set<Socket>();
  const busy = new Map<Socket, number>();
  const refused = new Set<Socket>();
  const closed = meter(registry, () => idle.size + busy.size + refused.size);
  let closing = false;
  let lastMoment: NodeJS.Timeout | undefined;

  const drop = (socket: Socket, why: Why): void => {
    closed.inc({ why });
    socket.destroy();
  };
  const admit = (socket: Socket): void => {
    if (idle.size + busy.size < max) {
      idle.add(socket);
      return;
    }
    const [longestIdle] = idle;
    if (longestIdle !== undefined) {
      idle.delete(longestIdle);
      idle.add(socket);
      drop(longestIdle, "idle");
      return;
    }
    const [first] = refused;
    if (first !== undefined && refused.size >= MAX_REFUSED) {
      refused.delete(first);
      drop(first, "full");
    }
    refused.add(socket);
  };

  app.server.on("connection", (socket: Socket) => {
    socket.once("close", () => {
      idle.delete(socket);
      busy.delete(socket);
      refused.delete(socket);
    });
    admit(socket);
  });
  app.server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
    idle.delete(socket);
    if (!refused.has(socket)) busy.set(socket, (busy.get(socket) ?? 0) + 1);
    response.once("close", () => {
      const left = (busy.get(socket) ?? 1) - 1;
      if (left > 0) busy.set(socket, left);
      else if (busy.delete(socket) && !socket.destroyed) idle.add(socket);
      if (closing && left === 0) socket.destroySoon();
    });
  });
  app.addHook("onRequest", async (request, reply) => {
    if (!refused.has(request.raw.socket)) return;
    void reply.header("connection", "close");
    closed.inc({ why: "full" });
    if (request.routeOptions.config.access !== "public") throw tooManyConnections();
  });
  app.addHook("onSend", async (_request, reply, payload) => {
    if (closing) void reply.header("connection", "close");
    return payload;
  });
  app.addHook("preClose", async () => {
    closing = true;
    for (const socket of [...idle, ...refused]) socket.destroySoon();
    lastMoment = setTimeout(() => {
      app.log.warn({ connections: busy.size }, "connections were cut, because the service stops");
      app.server.closeAllConnections();
    }, closeMs);
  });
  app.addHook("onClose", async () => clearTimeout(lastMoment));
}

type Why = "idle" | "full";

function meter(registry: Registry, count: () => number): Counter<"why"> {
  const open: Gauge = new Gauge({
    name: "sumtree_http_open_connections",
    help: "Connections of clients",
    registers: [],
    collect: (): void => open.set(count()),
  });
  registry.registerMetric(open);
  return new Counter({
    name: "sumtree_http_closed_connections_total",
    help: "Connections closed because there were too many: the longest idle one, or a new one when none was idle",
    labelNames: ["why"],
    registers: [registry],
  });
}

function tooManyConnections(): AppError {
  return new AppError("service_overloaded", "Too many connections are open. Try again.", {
    retryAfterSeconds: 2,
  });
}
