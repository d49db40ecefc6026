import type { FastifyReply } from "fastify";
import { whenClosed } from "./when-closed.ts";

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
