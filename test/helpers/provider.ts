import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as it came. */
export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Provider {
  readonly server: Server;
  /** Base URL, without `/v1`. */
  readonly origin: string;
  /** Requests that came whole. */
  readonly seen: Received[];
  close(): Promise<void>;
}

type Answer = (received: Received, response: ServerResponse) => unknown;

/** A provider that reads each request and answers it, as JSON unless told otherwise. */
export async function startProvider(answer: Answer): Promise<Provider> {
  const seen: Received[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.once("end", () => {
      const { method, url, headers } = request;
      const one = { method: method!, url: url!, headers, body: Buffer.concat(parts) };
      seen.push(one);
      response.setHeader("content-type", "application/json");
      const answered = async (): Promise<unknown> => answer(one, response);
      answered().catch(() => response.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    server,
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
