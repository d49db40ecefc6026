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

/** A statement as it came over a link. */
export interface Statement {
  /** Its `log_comment`, without the version of the store. */
  readonly name: string;
  readonly text: string;
  /** Executes it, for the first time or again; the server's answer. */
  deliver(): Promise<{ readonly status: number; readonly text: string }>;
}

/** `slow`: others overtake it. */
export type Fate = "pass" | "hold" | "twice" | "slow";

export interface StatementLink {
  /** The server's URL, by way of the link. */
  readonly url: string;
  /** What becomes of each statement. Held ones are never answered; those that begin by then neither, while it is `stalled`. */
  rule: (statement: Statement) => Fate;
  stalled: boolean;
  readonly held: readonly Statement[];
  close(): Promise<void>;
}

/** A link between a service and one server, which holds statements, delivers them late or repeats them. */
export async function openLink(target: string): Promise<StatementLink> {
  const server = new URL(target);
  const agent = new Agent({ keepAlive: true });
  const held: Statement[] = [];
  const take = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const body = await buffer(incoming).catch(() => undefined);
    if (body === undefined) return;
    const { pathname, searchParams, search } = new URL(incoming.url!, server);
    const deliver = () =>
      exchange({ server, agent, path: pathname + search, headers: incoming.headers, body });
    const statement: Statement = {
      name: (searchParams.get("log_comment") ?? "").replace(/ @.*/, ""),
      text: `${searchParams.get("query") ?? ""}\n${body.toString("latin1")}`,
      deliver: async () => {
        const { status, bytes } = await deliver();
        return { status, text: bytes.toString() };
      },
    };
    const fate = link.rule(statement);
    if (fate === "hold") held.push(statement);
    if (fate === "hold" || link.stalled) return;
    if (fate === "slow") await pause(SLOW_MS);
    try {
      const answer = await deliver();
      if (fate === "twice") await deliver();
      outgoing.writeHead(answer.status, answer.headers).end(answer.bytes);
    } catch {
      outgoing.destroy();
    }
  };
  const front = createServer((incoming, outgoing) => void take(incoming, outgoing));
  front.listen(0, "127.0.0.1");
  await once(front, "listening");
  const own = Object.assign(new URL(target), { port: String((front.address() as AddressInfo).port) });
  const link: StatementLink = {
    url: own.href,
    rule: () => "pass",
    stalled: false,
    held,
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
  const { "transfer-encoding": _again, connection: _own, ...told } = answer.headers;
  return { status: answer.statusCode!, headers: told, bytes: await buffer(answer) };
}
