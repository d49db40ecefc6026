import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Counter, Gauge, type Registry } from "prom-client";
import { AppError } from "../../shared/errors.ts";
import { responseOneAtATime, closeGently } from "./one-request.ts";

/** Connections above the limit that stay open for their 503. */
const MAX_REFUSED = 32;

/** Minimum bytes per second of an upload during shutdown. */
const MIN_CLOSING_BYTES = 1024;

/**
 * Limits connections. At `max`, a new one replaces the oldest anonymous one, whose last request had no valid key (or which
 * sent none yet), else the one that has been idle longest; if all serve requests with a key, the new one gets a 503. An
 * anonymous request is answered from its headers, and its connection closes if the body has not arrived.
 *
 * On shutdown, idle connections close at once, stalled uploads within two seconds, the rest after their last response or
 * after `closeMs`. Node alone would wait for connections without a request.
 */
export function registerConnections(
  app: FastifyInstance,
  { max, closeMs, registry }: { max: number; closeMs: number; registry: Registry },
): void {
  // each set is in the order of insertion
  const anonymous = new Set<Socket>();
  const idle = new Set<Socket>();
  const busy = new Set<Socket>();
  const refused = new Set<Socket>();
  const all = [anonymous, idle, busy, refused];
  const closed = meter(registry, () => all.reduce((sum, { size }) => sum + size, 0));
  let closing = false;
  let lastMoment: NodeJS.Timeout | undefined;
  let watch: NodeJS.Timeout | undefined;

  const forget = (socket: Socket): void => {
    for (const some of all) some.delete(socket);
  };
  const drop = (socket: Socket, reason: Why): void => {
    closed.inc({ reason });
    forget(socket);
    socket.destroy();
  };
  const admit = (socket: Socket): void => {
    const isFull = anonymous.size + idle.size + busy.size >= max;
    const [longest] = anonymous.size > 0 ? anonymous : idle;
    if (!isFull || longest !== undefined) {
      if (isFull) drop(longest!, anonymous.size > 0 ? "anonymous" : "idle");
      anonymous.add(socket);
      return;
    }
    const [first] = refused;
    if (first !== undefined && refused.size >= MAX_REFUSED) drop(first, "full");
    refused.add(socket);
  };

  app.server.on("connection", (socket: Socket) => {
    socket.once("close", () => forget(socket));
    admit(socket);
  });
  const open = responseOneAtATime(app.server, (socket, response) => {
    if (anonymous.delete(socket) || idle.delete(socket)) anonymous.add(socket);
    response.once("close", () => {
      if (busy.delete(socket) && !socket.destroyed) idle.add(socket);
      if (closing) socket.destroySoon();
    });
  });
  app.addHook("onRoute", (route) => {
    if (route.config?.access === "public") return;
    const trust = async ({ raw: { socket } }: FastifyRequest): Promise<void> => {
      if (anonymous.delete(socket)) busy.add(socket);
    };
    // after the guard, which puts its check first
    route.onRequest = [...[route.onRequest ?? []].flat(), trust];
  });
  app.addHook("onRequest", async (request, reply) => {
    if (!refused.has(request.raw.socket)) return;
    void reply.header("connection", "close");
    closed.inc({ reason: "full" });
    if (request.routeOptions.config.access !== "public") throw tooManyConnections();
  });
  app.addHook("onSend", async ({ raw: { socket, complete } }, reply, payload) => {
    const isCutShort = !complete && anonymous.has(socket);
    if (isCutShort) closeGently(socket);
    if (isCutShort || closing) void reply.header("connection", "close");
    return payload;
  });
  app.addHook("preClose", async () => {
    closing = true;
    for (const socket of all.flatMap((some) => [...some])) if (!open.has(socket)) socket.destroySoon();
    watch = endStalledUploads(open);
    lastMoment = setTimeout(() => {
      app.log.warn({ connections: open.size }, "connections closed by shutdown");
      app.server.closeAllConnections();
    }, closeMs);
  });
  app.addHook("onClose", async () => {
    clearTimeout(lastMoment);
    clearInterval(watch);
  });
}

/** Closes uploads below the minimum rate, except under back-pressure. */
function endStalledUploads(open: ReadonlyMap<Socket, ServerResponse>): NodeJS.Timeout {
  let seen = new Map<Socket, number>();
  const check = (): void => {
    for (const [socket, { req }] of open) {
      const comes = socket.bytesRead - (seen.get(socket) ?? -Infinity) >= MIN_CLOSING_BYTES;
      if (!comes && !req.complete && req.readableLength === 0) socket.destroy();
    }
    seen = new Map([...open.keys()].map((socket) => [socket, socket.bytesRead]));
  };
  // after a delayed event loop has read the received data
  return setInterval(() => setImmediate(check), 1000);
}

type Why = "anonymous" | "idle" | "full";

function meter(registry: Registry, count: () => number): Counter<"reason"> {
  const open: Gauge = new Gauge({
    name: "sumtree_http_open_connections",
    help: "Open client connections",
    registers: [],
    collect: (): void => open.set(count()),
  });
  registry.registerMetric(open);
  return new Counter({
    name: "sumtree_http_connections_closed_total",
    help: "Connections closed because there were too many: one without a valid key, an idle one, or a new one when there was neither",
    labelNames: ["reason"],
    registers: [registry],
  });
}

function tooManyConnections(): AppError {
  return new AppError("service_overloaded", "Too many open connections. Retry later.", {
    retryAfterSeconds: 2,
  });
}
