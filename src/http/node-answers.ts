import type { IncomingMessage } from "node:http";
import type { FastifyInstance } from "fastify";
import { AppError } from "../shared/errors.ts";

/** The server's option that leaves the check for a Host to `registerNodeAnswers`. */
export const serverOptions = { requireHostHeader: false } as const;

/**
 * Refusals that Node would write itself, without a body and a request id, or would not make at all: it keeps the first
 * of two Hosts and undoes the last of several transfer codings. Source: nodejs.org/api/http.html.
 */
export function registerNodeAnswers(app: FastifyInstance): void {
  // RFC 9110, 10.1.1: an expectation that is not understood may be ignored
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  app.addHook("onRequest", async ({ raw }, reply) => {
    const fault = faultOf(raw);
    if (fault === undefined) return;
    // where its body ends is anybody's guess
    void reply.header("connection", "close");
    throw new AppError("bad_request", fault);
  });
}

/** What RFC 9112, 3.2 and 6.1, lets no server take: two servers in a row could read it as two different requests. */
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
