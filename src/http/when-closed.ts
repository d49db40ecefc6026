import type { FastifyReply } from "fastify";
import type { ServerResponse } from "node:http";

/**
 * Calls back when a response is over, sent or not. If the client leaves while its key is checked, "close" is emitted
 * before the handler runs, and will not come again.
 */
export function whenClosed(response: ServerResponse, action: () => void): void {
  if (response.closed) action();
  else response.once("close", action);
}

/** A signal that aborts if the client leaves before it has the whole response. */
export function abortOnClose(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  whenClosed(reply.raw, () => {
    if (!reply.raw.writableFinished) controller.abort();
  });
  return controller.signal;
}
