import { randomUUID } from "node:crypto";
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError, type ErrorCode } from "../shared/errors.ts";
import type { sendError } from "./errors.ts";

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly code?: ErrorCode;
}

/** Responses by error code of Node's HTTP parser. Source: nodejs.org/api/http.html, "clientError". */
const responses: Readonly<Record<string, Answer>> = {
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    text: "The request did not arrive in time.",
    code: "client_stalled",
  },
  HPE_HEADER_OVERFLOW: { status: 431, text: "The headers are too large." },
};
const unreadable: Answer = { status: 400, text: "Malformed request." };

interface RejectOptions {
  readonly log: FastifyBaseLogger;
  /** Formats the error of a request that has no route yet; `originalUrl` is empty if its target is unknown. */
  readonly bodyOf: (
    error: AppError,
    request: { readonly originalUrl: string; readonly id: string },
  ) => unknown;
}

/** Responds to malformed HTTP with JSON and a request id. */
export function rejectMalformed(
  error: Error & { code?: string; rawPacket?: unknown },
  socket: Duplex,
  { log, bodyOf }: RejectOptions,
): void {
  if (error.code === "ECONNRESET" || socket.destroyed) return;
  const { status, text, code = "bad_request" } = responses[error.code ?? ""] ?? unreadable;
  const requestId = randomUUID();
  log.debug({ code: error.code, status, request_id: requestId }, "malformed request rejected");
  const packet = Buffer.isBuffer(error.rawPacket) ? error.rawPacket.toString("latin1") : "";
  const [, originalUrl = ""] = /^[A-Z]+ (\S+) HTTP\//.exec(packet) ?? [];
  const body = JSON.stringify(bodyOf(new AppError(code, text), { originalUrl, id: requestId }));
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

/**
 * Rejects what two servers could read differently and Node accepts, or rejects without a body: it keeps the first of two Hosts,
 * and decodes only the last of several transfer codings. Source: RFC 9112, 3.2 and 6.1.
 */
export function rejectAmbiguous(app: FastifyInstance): void {
  app.addHook("onRequest", async ({ raw: { headers, rawHeaders, httpVersion } }, reply) => {
    const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "host").length;
    const hasHost = hosts === 1 || (hosts === 0 && httpVersion === "1.0");
    if (hasHost && (headers["transfer-encoding"] ?? "chunked").toLowerCase() === "chunked") return;
    void reply.header("connection", "close");
    throw new AppError("bad_request", "A request has one Host, and no Transfer-Encoding but chunked.");
  });
}

/** Responds to a request with an invalid URL, for which no route and no hook runs. `send` formats the error. */
export function respondBadUrl(
  error: Error,
  request: FastifyRequest,
  reply: FastifyReply,
  send: typeof sendError,
): void {
  void reply.header("x-request-id", request.id);
  void send(error, request, reply);
}
