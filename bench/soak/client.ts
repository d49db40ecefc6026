import { setTimeout as delay } from "node:timers/promises";
import { Agent, request } from "undici";
import { authorization } from "../../test/helpers/start-app.ts";

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

export interface SoakClient {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The same with a bearer token, as the gateway requires. */
  readonly tokenHeaders: Readonly<Record<string, string>>;
  /** How often something happened, by operation and outcome. */
  readonly outcomes: Map<string, Map<string, number>>;
  /** Sends JSON or bytes until the service accepts it: a 429 or 503 is counted, and the request repeated. */
  send(
    operation: string,
    path: string,
    body: object,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Reply>;
  /** Counts an outcome that is not an answer. */
  saw(operation: string, outcome: string): void;
  close(): Promise<void>;
}

const MAX_TRIES = 20;

export function createClient(url: string, key: string): SoakClient {
  const agent = new Agent({ connections: 64, headersTimeout: 120_000, bodyTimeout: 120_000 });
  const type = { "content-type": "application/json" };
  const own = { ...type, authorization: authorization(key) };
  const outcomes = new Map<string, Map<string, number>>();
  const saw = (operation: string, outcome: string): void => {
    const counts = outcomes.get(operation) ?? new Map<string, number>();
    outcomes.set(operation, counts.set(outcome, (counts.get(outcome) ?? 0) + 1));
  };
  return {
    url,
    headers: own,
    tokenHeaders: { ...type, authorization: authorization(key, "bearer") },
    outcomes,
    saw,
    async send(operation, path, body, headers = {}) {
      const payload = Buffer.isBuffer(body) ? body : JSON.stringify(body);
      for (let tries = 1; ; tries++) {
        const response = await request(url + path, {
          method: "POST",
          headers: { ...own, ...headers },
          body: payload,
          dispatcher: agent,
        });
        const reply = {
          status: response.statusCode,
          headers: response.headers,
          body: Buffer.from(await response.body.arrayBuffer()),
        };
        saw(operation, String(reply.status));
        if ((reply.status !== 503 && reply.status !== 429) || tries === MAX_TRIES) return reply;
        await delay(200);
      }
    },
    close: () => agent.destroy(),
  };
}

/** The answer to a request that must succeed. Errors: if it is not a 200. */
export function jsonOf({ status, body }: Reply): unknown {
  if (status !== 200) throw new Error(`answered ${status}: ${body.toString("utf8", 0, 300)}`);
  return JSON.parse(body.toString("utf8")) as unknown;
}
