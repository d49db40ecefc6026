import type { FastifyInstance } from "fastify";

/**
 * While the service stops, a connection ends with the answer it carries. Node closes the connections that are idle
 * when the stop begins; one that was busy then would be kept alive, and the stop would wait for it.
 */
export function registerClosing(app: FastifyInstance): void {
  let closing = false;
  app.addHook("preClose", async () => {
    closing = true;
  });
  app.addHook("onSend", async (_request, reply, payload) => {
    if (closing) void reply.header("connection", "close");
    return payload;
  });
  app.addHook("onResponse", (_request, _reply, done) => {
    if (closing) setImmediate(() => app.server.closeIdleConnections());
    done();
  });
}
