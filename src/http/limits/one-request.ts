import type { RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Bytes parsed at a time; bounds the number of pipelined requests parsed. */
const HEAD_BYTES = 2048;
const BODY_BYTES = 16_384;
/** Time between a half-close and the end of the connection (lingering close). */
const LINGER_MS = 1000;

/**
 * Serves one request of a connection at a time. Node would start all pipelined requests; here they are dropped, and the
 * connection closes after the response, so that the client repeats them. Returns the open responses. Source: RFC 9112, 9.3.2.
 */
export function responseOneAtATime(
  server: Server,
  onBegin: (socket: Socket, response: ServerResponse) => void,
): ReadonlyMap<Socket, ServerResponse> {
  const open = new Map<Socket, ServerResponse>();
  const ahead = new WeakSet<Socket>();
  const [answer] = server.listeners("request") as RequestListener[];
  server.removeAllListeners("request").on("request", (request, response) => {
    const { socket } = request;
    const first = open.get(socket);
    if (first !== undefined) {
      ahead.add(socket);
      first.shouldKeepAlive = false;
      closeGently(socket);
      return;
    }
    open.set(socket, response);
    response.once("close", () => {
      open.delete(socket);
      if (ahead.has(socket)) socket.destroySoon();
    });
    onBegin(socket, response);
    answer!(request, response);
  });
  server.on("connection", (socket: Socket) => {
    const [parse] = socket.listeners("data") as ((bytes: Buffer) => void)[];
    socket.removeAllListeners("data").on("data", (bytes: Buffer) => {
      for (let at = 0; at < bytes.length && socket.writable && !ahead.has(socket);) {
        const end = at + (open.has(socket) ? BODY_BYTES : HEAD_BYTES);
        parse!(bytes.subarray(at, end));
        at = end;
      }
    });
  });
  return open;
}

/** Makes Node's close after a response a lingering one: a reset could overtake the response. */
export function closeGently(socket: Socket): void {
  socket.destroySoon = () => {
    socket.end();
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  };
}
