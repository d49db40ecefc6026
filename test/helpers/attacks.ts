import { createServer, request, Agent, type Server } from "node:http";
import { once } from "node:events";
import { connect, type AddressInfo } from "node:net";
import { authorization } from "./start-app.ts";

interface Answer {
  readonly status: number;
}

/** A client with one key, over connections of its own. */
export class Client {
  readonly #url: string;
  readonly #key: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1000 });

  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  /** Reads the whole answer. */
  ask(path: string, body: unknown, signal?: AbortSignal): Promise<Answer> {
    const headers = { authorization: `Bearer ${this.#key}`, "content-type": "application/json" };
    return new Promise((resolve, reject) => {
      const options = {
        method: "POST",
        agent: this.#agent,
        headers,
        ...(signal === undefined ? {} : { signal }),
      };
      const sent = request(new URL(path, this.#url), options, (response) => {
        response.resume();
        response.once("error", reject);
        response.once("end", () => resolve({ status: response.statusCode! }));
      });
      sent.once("error", reject);
      sent.end(JSON.stringify(body));
    });
  }

  /** Asks, and reads nothing of the answer until the signal. */
  askUnread(path: string, body: unknown, signal: AbortSignal): void {
    const { hostname, port } = new URL(this.#url);
    const socket = connect({ host: hostname, port: Number(port) });
    const text = JSON.stringify(body);
    socket.on("error", () => undefined);
    socket.pause();
    const lines = [
      `POST ${path} HTTP/1.1`,
      "host: s",
      `authorization: Bearer ${this.#key}`,
      "content-type: application/json",
      `content-length: ${text.length}`,
    ];
    socket.write(`${lines.join("\r\n")}\r\n\r\n${text}`);
    signal.addEventListener("abort", () => socket.destroy(), { once: true });
  }

  close(): void {
    this.#agent.destroy();
  }
}

export const ATTACKS = ["scans", "slow readers", "streams", "months", "writes"] as const;

export interface Attack {
  readonly does: (typeof ATTACKS)[number];
  readonly times: number;
}

const MONTHS = 420;
let sent = 0;

/** Keeps some clients of a project busy until the signal; none of them minds being refused. */
export async function attack(
  clients: readonly Client[],
  project_id: string,
  { does, times, signal }: Attack & { signal: AbortSignal },
): Promise<void> {
  const everything = { project_id, limit: 1_000_000, include_costs: true };
  const once = (client: Client): Promise<unknown> => {
    switch (does) {
      case "slow readers":
        client.askUnread("/trace/usage", everything, signal);
        return new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      case "streams":
        return client.ask("/v1/chat/completions", { model: "endless", messages: [], stream: true }, signal);
      case "months":
        return client.ask(`/v2/${project_id}/calls/complete`, { batch: callsOfMonths(MONTHS) }, signal);
      case "writes":
        return client.ask(`/v2/${project_id}/calls/complete`, { batch: callsOfMonths(1, 200) }, signal);
      case "scans":
      default:
        return client.ask("/trace/usage", everything, signal);
    }
  };
  await Promise.all(
    Array.from({ length: times }, async (_, at) => {
      while (!signal.aborted) {
        await once(clients[at % clients.length]!).catch(() => undefined);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }),
  );
}

export function callsOfMonths(months: number, ofEach = 1): object[] {
  return Array.from({ length: months * ofEach }, (_, at) => {
    const month = at % months;
    const started_at = new Date(Date.UTC(2015 + Math.floor(month / 12), month % 12, 15)).toISOString();
    const id = `c${sent++}`;
    const usage = { "gpt-4o": { requests: 1, prompt_tokens: 10, completion_tokens: 5 } };
    return {
      id,
      trace_id: id,
      parent_id: null,
      op_name: "op",
      started_at,
      ended_at: started_at,
      attributes: {},
      inputs: {},
      output: "done",
      summary: { usage },
    };
  });
}

/** A chat service whose model "endless" never comes to an end. */
export async function startEndlessUpstream(): Promise<{ url: string; server: Server }> {
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.once("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":"a"}}]}\n\n`);
      if (!Buffer.concat(chunks).includes("endless")) response.end("data: [DONE]\n\n");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

/** A key of a project that may do everything there. */
export async function createKey(
  url: string,
  project: string,
  scopes: readonly string[] = ["ingest", "read", "train"],
): Promise<string> {
  const response = await fetch(`${url}/api-keys`, {
    method: "POST",
    headers: { authorization: authorization(), "content-type": "application/json" },
    body: JSON.stringify({ name: "k", scopes, projects: [project] }),
  });
  const { key } = (await response.json()) as { key: string };
  return key;
}
