import type { IncomingMessage } from "node:http";
import type { FastifyInstance } from "fastify";
import { AppError } from "../shared/errors.ts";

/**
 * Options of Node's server. `registerNodeResponses` checks the Host header. Model providers accept headers of 64 KiB; the
 * request line comes on top.
 */
export const serverOptions = { requireHostHeader: false, maxHeaderSize: 72 * 1024 } as const;

/**
 * Rejects ambiguous requests with a body and a request id. Node would reject some without either and accept others: it keeps
 * the first of two Hosts and decodes only the last of several transfer codings. Source: nodejs.org/api/http.html.
 */
export function registerNodeResponses(app: FastifyInstance): void {
  // RFC 9110, 10.1.1: a server may ignore an unknown expectation
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  app.addHook("onRequest", async ({ raw }, reply) => {
    const fault = faultOf(raw);
    if (fault === undefined) return;
    // the end of its body is ambiguous
    void reply.header("connection", "close");
    throw new AppError("bad_request", fault);
  });
}

/** Returns the error of a request that RFC 9112, 3.2 and 6.1, forbids, because two servers could read it differently. */
function faultOf({ headers, rawHeaders, httpVersion }: IncomingMessage): string | undefined {
  const coding = headers["transfer-encoding"];
  if (coding !== undefined && (coding.toLowerCase() !== "chunked" || httpVersion === "1.0")) {
    return "The body has a Transfer-Encoding other than chunked.";
  }
  const hosts = rawHeaders.filter(
    (name, at) => at % 2 === 0 && name.length === 4 && name.toLowerCase() === "host",
  );
  if (hosts.length > 1) return "The request has more than one Host.";
  if (headers.host === undefined) return httpVersion === "1.1" ? "The request has no Host." : undefined;
  return /[\s,/?#@\\]/.test(headers.host) ? "The Host of the request is not one." : undefined;
}
