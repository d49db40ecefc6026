import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { head, sendRaw, type RawResponse } from "./raw-http.ts";
import { startApp, type StartOptions, type TestApp } from "./start-app.ts";

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

export interface ProvidedApp extends TestApp {
  readonly provider: Provider;
  readonly origin: string;
  readonly port: number;
}

/** The service, listening, in front of a provider. */
export async function startProvided(
  answer: Answer,
  settingsOf: (providerOrigin: string) => Readonly<Record<string, string>>,
  deps: StartOptions["deps"] = {},
): Promise<ProvidedApp> {
  const provider = await startProvider(answer);
  const test = await startApp({ settings: settingsOf(provider.origin), deps });
  const origin = await test.app.listen({ host: "127.0.0.1", port: 0 });
  return {
    ...test,
    provider,
    origin,
    port: Number(new URL(origin).port),
    async close() {
      await test.close();
      await provider.close();
    },
  };
}

export interface SentBody {
  readonly body?: object | string | Uint8Array | undefined;
  readonly headers?: readonly string[];
}

/** Sends a request line with its headers as they are. */
export function sendLine(
  port: number,
  line: string,
  key: string,
  { body = "", headers = ["content-type: application/json"] }: SentBody,
): Promise<RawResponse> {
  const bytes =
    body instanceof Uint8Array ? body : Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  const own = ["host: gateway", `authorization: Bearer ${key}`, `content-length: ${bytes.length}`];
  return sendRaw(port, head(`${line} HTTP/1.1`, ...own, "connection: close", ...headers), bytes).answer;
}
