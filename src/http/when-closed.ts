import type { FastifyReply } from "fastify";
import type { ServerResponse } from "node:http";

/** Calls back when a response is closed, sent or not; at once if the client left before the handler ran. */
export function whenClosed(response: ServerResponse, action: () => void): void {
  if (response.closed) action();
  else response.once("close", action);
}

/** Creates a signal that aborts if the client leaves before the end of the response. */
export function abortOnClose(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  whenClosed(reply.raw, () => {
    if (!reply.raw.writableFinished) controller.abort();
  });
  return controller.signal;
}
