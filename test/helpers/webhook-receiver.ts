import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface Received {
  readonly id: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** An HTTP server that keeps what it receives, and answers each request as `answer` does: 200 by default. */
export async function startWebhookReceiver() {
  const received: Received[] = [];
  const receiver = {
    url: "",
    received,
    answer: (response: ServerResponse): void => void response.end("ok"),
    fractions: (): number[] =>
      received.map(({ body }) => (JSON.parse(body) as { data: { fraction: number } }).data.fraction),
    async close(): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { headers, url = "" } = request;
      received.push({ id: String(headers["webhook-id"]), path: url, headers, body });
      receiver.answer(response);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks/s3cret-path`;
  return receiver;
}

export type WebhookReceiver = Awaited<ReturnType<typeof startWebhookReceiver>>;
