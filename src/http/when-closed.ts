import type { FastifyReply } from "fastify";
import type { ServerResponse } from "node:http";

/**
 * Calls back when an answer is over, sent or not. A client can have left before a handler, or a hook behind the check
 * of its key, runs: "close" has been emitted then and will not come again.
 */
export function whenClosed(response: ServerResponse, action: () => void): void {
  if (response.closed) action();
  else response.once("close", action);
}

/** A signal that is aborted when the client leaves before it has the whole answer. */
export function abortOnClose(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  // hooks, this signal and the pipe of a streamed answer each wait for its end: a dozen is no leak
  reply.raw.setMaxListeners(24);
  whenClosed(reply.raw, () => {
    if (!reply.raw.writableFinished) controller.abort();
  });
  return controller.signal;
}
