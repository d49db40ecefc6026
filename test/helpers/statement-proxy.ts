import { once } from "node:events";
import {
  Agent,
  createServer,
  request as send,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";

const SLOW_MS = 300;
/** A statement of the service that changes what is stored. */
const CHANGE = /^\s*INSERT INTO|^\s*ALTER TABLE|\r\n\r\nALTER TABLE/;

/** A statement as it came over a link. */
export interface Statement {
  /** Its `log_comment`. */
  readonly name: string;
  readonly text: string;
  /** True for inserts and mutations. */
  readonly isChange: boolean;
  /** Executes it, for the first time or again; the server's answer. */
  deliver(): Promise<{ readonly status: number; readonly text: string }>;
}

/**
 * `slow`: others overtake it. `twice`: executed twice. `lost`: executed, but the connection breaks before the answer. `cut`: the
 * connection breaks before it arrives, `hold`: it is never answered; both can be delivered late.
 */
export type Fate = "pass" | "slow" | "twice" | "lost" | "cut" | "hold";

export interface StatementProxy {
  /** The server's URL, by way of the link. */
  readonly url: string;
  /** Decides the fate of each statement. */
  rule: (statement: Statement) => Fate;
  /** While it is, nothing arrives. When it ends, the connections of what has not arrived break. */
  stalled: boolean;
  readonly held: readonly Statement[];
  /** Resolves when the server has answered everything that has arrived by now, whoever still waits for it. */
  materialized(): Promise<void>;
  close(): Promise<void>;
}

/** A link between a service and one server, which holds statements, delivers them late or repeats them. */
export async function startStatementProxy(target: string): Promise<StatementProxy> {
  const server = new URL(target);
  const agent = new Agent({ keepAlive: true });
  const held: Statement[] = [];
  const waiting = new Set<ServerResponse>();
  const arrived = new Set<Promise<void>>();
  let isStalled = false;
  const take = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const body = await buffer(incoming).catch(() => undefined);
    if (body === undefined) return;
    const { pathname, searchParams, search } = new URL(incoming.url!, server);
    const deliver = () => {
      const response = exchange({ server, agent, path: pathname + search, headers: incoming.headers, body });
      const over = response.then(
        () => undefined,
        () => undefined,
      );
      arrived.add(over);
      void over.then(() => arrived.delete(over));
      return response;
    };
    const text = `${searchParams.get("query") ?? ""}\n${body.toString("latin1")}`;
    const statement: Statement = {
      name: searchParams.get("log_comment") ?? "",
      text,
      isChange: CHANGE.test(text),
      deliver: async () => {
        const { status, bytes } = await deliver();
        return { status, text: bytes.toString() };
      },
    };
    const fate = link.rule(statement);
    if (fate === "hold") held.push(statement);
    if (isStalled) waiting.add(outgoing);
    if (fate === "hold" || isStalled) return;
    if (fate === "cut") return void outgoing.destroy();
    if (fate === "slow") await pause(Math.random() * SLOW_MS);
    try {
      const response = await deliver();
      if (fate === "lost") return void outgoing.destroy();
      if (fate === "twice") await deliver();
      outgoing.writeHead(response.status, response.headers).end(response.bytes);
    } catch {
      outgoing.destroy();
    }
  };
  const front = createServer((incoming, outgoing) => void take(incoming, outgoing));
  front.listen(0, "127.0.0.1");
  await once(front, "listening");
  const own = Object.assign(new URL(target), { port: String((front.address() as AddressInfo).port) });
  const link: StatementProxy = {
    url: own.href,
    rule: () => "pass",
    held,
    async materialized() {
      await Promise.all(arrived);
    },
    get stalled() {
      return isStalled;
    },
    set stalled(is) {
      isStalled = is;
      if (is) return;
      for (const outgoing of waiting) outgoing.destroy();
      waiting.clear();
    },
    async close() {
      front.closeAllConnections();
      front.close();
      agent.destroy();
      await once(front, "close");
    },
  };
  return link;
}

interface Delivery {
  readonly server: URL;
  readonly agent: Agent;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

async function exchange({ server, agent, path, headers, body }: Delivery) {
  const { "transfer-encoding": _chunked, ...more } = headers;
  const going = send(server, {
    method: "POST",
    agent,
    path,
    headers: { ...more, host: server.host, "content-length": String(body.length) },
  });
  going.end(body);
  const [answer] = (await once(going, "response")) as [IncomingMessage];
  const { "transfer-encoding": _again, connection: _own, ...returned } = answer.headers;
  return { status: answer.statusCode!, headers: returned, bytes: await buffer(answer) };
}
