import { randomUUID } from "node:crypto";
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../shared/errors.ts";
import type { sendError } from "./errors.ts";

const TUNNEL = "CONNECT";

/** The errors of Node's HTTP parser, and the messages to clients. Source: nodejs.org/api/http.html, "clientError". */
const responses: Readonly<Record<string, { status: number; text: string }>> = {
  [TUNNEL]: { status: 400, text: "The request target is not a path." },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, text: "The request did not come in time." },
  HPE_HEADER_OVERFLOW: { status: 431, text: "The headers are too large." },
};
const unreadable = { status: 400, text: "Malformed request." };

interface Means {
  readonly log: FastifyBaseLogger;
  /** Writes the error for a client of any route, because the route is unknown. */
  readonly bodyOf: (error: AppError) => unknown;
}

/** Responds to what is not HTTP with JSON and a request id. */
export function rejectMalformed(
  error: Error & { code?: string },
  socket: Duplex,
  { log, bodyOf }: Means,
): void {
  if (error.code === "ECONNRESET" || socket.destroyed) return;
  const { status, text } = responses[error.code ?? ""] ?? unreadable;
  const requestId = randomUUID();
  log.debug({ code: error.code, status, request_id: requestId }, "request cannot be read");
  const body = JSON.stringify(bodyOf(new AppError("bad_request", text)));
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      "content-type: application/json; charset=utf-8",
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${requestId}`,
      "connection: close",
      "",
      body,
    ].join("\r\n"),
  );
}

/** Responds to CONNECT, whose connection Node would close without a word. */
export function rejectConnect(app: FastifyInstance, means: Means): void {
  app.server.on("connect", (_request, socket) => {
    // whoever takes the connection from Node takes its errors
    socket.on("error", () => undefined);
    rejectMalformed(Object.assign(new Error("a tunnel"), { code: TUNNEL }), socket, means);
    socket.once("finish", () => socket.destroy());
  });
}

/**
 * Responds to a request whose URL is broken, so that it matches no route and no hook runs. `send` writes the error in
 * the form of the addressed interface.
 */
export function respondBadUrl(
  error: Error,
  request: FastifyRequest,
  reply: FastifyReply,
  send: typeof sendError,
): void {
  void reply.header("x-request-id", request.id);
  void send(error, request, reply);
}
