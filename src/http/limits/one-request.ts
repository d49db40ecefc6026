import type { RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** A client that sends more requests ahead is cut off at once: each takes memory until its connection ends. */
const MAX_AHEAD = 100;
/** How long a client may go on sending after a response that closes its connection. */
const LINGER_MS = 1000;

/**
 * Answers one request of a connection at a time. Node reads what a client sends ahead at once: these requests are dropped,
 * and the connection closes after the response, so that the client sends them again. Source: RFC 9112, 9.3.2. Returns the
 * responses that are open.
 */
export function answerOneAtATime(
  server: Server,
  onBegin: (socket: Socket, response: ServerResponse) => void,
): ReadonlyMap<Socket, ServerResponse> {
  const open = new Map<Socket, ServerResponse>();
  const ahead = new WeakMap<Socket, number>();
  const [answer] = server.listeners("request") as RequestListener[];
  server.removeAllListeners("request").on("request", (request, response) => {
    const { socket } = request;
    const first = open.get(socket);
    const dropped = ahead.get(socket) ?? 0;
    if (first === undefined && dropped === 0) {
      open.set(socket, response);
      response.once("close", () => {
        open.delete(socket);
        if (ahead.has(socket)) socket.destroySoon();
      });
      onBegin(socket, response);
      answer!(request, response);
      return;
    }
    ahead.set(socket, dropped + 1);
    if (dropped === MAX_AHEAD) socket.destroy();
    if (dropped > 0 || first === undefined) return;
    first.shouldKeepAlive = false;
    closeGently(socket);
  });
  return open;
}

/** When Node closes it after a response, lets the client send on for a moment: a reset could overtake the response. */
export function closeGently(socket: Socket): void {
  socket.destroySoon = () => {
    socket.end();
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  };
}
