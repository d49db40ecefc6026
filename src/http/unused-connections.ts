import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";

/**
 * Ends connections that no request is using when the app closes, and the others when their last answer is out. Node
 * alone waits for connections that never asked anything, and for those whose answer comes after the close began.
 */
export function registerUnusedConnections(app: FastifyInstance): void {
  const requests = new Map<Socket, number>();
  let closing = false;

  app.server.on("connection", (socket: Socket) => {
    requests.set(socket, 0);
    socket.once("close", () => requests.delete(socket));
  });
  app.server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
    requests.set(socket, (requests.get(socket) ?? 0) + 1);
    response.once("close", () => {
      const left = (requests.get(socket) ?? 1) - 1;
      if (requests.has(socket)) requests.set(socket, left);
      if (closing && left === 0) socket.destroySoon();
    });
  });
  app.addHook("preClose", async () => {
    closing = true;
    for (const [socket, open] of requests) if (open === 0) socket.destroySoon();
  });
}
