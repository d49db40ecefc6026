import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

/** A way to a server that can be shut: what passes is cut off, and nobody new gets in. */
export interface SeverableProxy {
  readonly port: number;
  shut(): Promise<void>;
  open(): Promise<void>;
}

export async function startSeverableProxy(to: number): Promise<SeverableProxy> {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => sockets.delete(socket));
  };
  let server: Server;
  const listen = async (port: number): Promise<void> => {
    server = createServer((client) => {
      const inside = connect(to, "127.0.0.1");
      [client, inside].forEach(keep);
      client.pipe(inside).pipe(client);
      client.once("close", () => inside.destroy());
      inside.once("close", () => client.destroy());
    });
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  };
  await listen(0);
  const { port } = server!.address() as AddressInfo;
  return {
    port,
    async shut() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.resetAndDestroy();
      await closed;
    },
    open: () => listen(port),
  };
}
