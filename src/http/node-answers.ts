import type { FastifyInstance } from "fastify";
import { AppError } from "../shared/errors.ts";

/** The server's option that leaves the check for a Host to `registerNodeAnswers`. */
export const serverOptions = { requireHostHeader: false } as const;

/** Two refusals that Node would write itself, without a body and a request id. Source: nodejs.org/api/http.html. */
export function registerNodeAnswers(app: FastifyInstance): void {
  // RFC 9110, 10.1.1: an expectation that is not understood may be ignored
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  app.addHook("onRequest", async ({ raw }) => {
    if (raw.httpVersion === "1.1" && raw.headers.host === undefined)
      throw new AppError("bad_request", "The request has no Host.");
  });
}
