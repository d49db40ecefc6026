import { connect } from "node:net";
import { Agent, request } from "node:http";

/** Load of one project, or of a client without a key, on `connections` connections at once. */
export interface Attack {
  readonly name: string;
  readonly connections: number;
  /** One round; its outcome does not matter. */
  readonly once: (target: AttackTarget) => Promise<unknown>;
}

export interface AttackTarget {
  readonly url: string;
  /** Key of `evil/*`. */
  readonly key: string;
}

const agent = new Agent({ keepAlive: true, maxSockets: 1000 });

function send(method: string, path: string, { url, key }: AttackTarget, body?: Buffer): Promise<unknown> {
  const headers = {
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    "content-length": body?.length ?? 0,
  };
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const sent = request({ hostname, port, path, method, agent, headers }, (response) => {
      response.resume();
      response.once("close", resolve);
    });
    sent.once("error", resolve);
    sent.end(body);
  });
}

const asks = (path: string, body: object) => (target: AttackTarget) =>
  send("POST", path, target, Buffer.from(JSON.stringify(body)));

/** Sends some bytes on a connection of its own, and reads until it is closed, or for a second. */
function sendRaw({ url }: AttackTarget, bytes: string): Promise<unknown> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(bytes));
    socket.setTimeout(1000, () => socket.destroy());
    socket.on("error", () => undefined);
    socket.resume();
    socket.once("close", resolve);
  });
}

const DAY = { start: "2026-01-01T00:00:00Z", end: "2026-01-02T00:00:00Z" };
const LONG_TARGET = `/${"%252541".repeat(2200)}`;
const PIPELINED = "GET /healthz HTTP/1.1\r\nhost: s\r\n\r\n".repeat(2000);
const VALUES = Buffer.from(`[${"{},".repeat(340_000)}{}]`);
let deletion = 0;

export const attacks: readonly Attack[] = [
  {
    name: "a chain of 3,000 calls with an LLM each",
    connections: 8,
    once: asks("/trace/usage", { project_id: "evil/chain", include_costs: true, limit: 1_000_000 }),
  },
  {
    name: "statistics of 30,000 calls in 4,800 buckets by four fields",
    connections: 4,
    once: asks("/usage/stats", {
      ...DAY,
      project_id: "evil/calls",
      granularity: 18,
      group_by: ["op_name", "llm", "trace_id", "status"],
      latency: { percentiles: [50, 99] },
      limit: 100,
    }),
  },
  {
    name: "all payloads of 30,000 calls",
    connections: 4,
    once: asks("/calls/stream_query", { project_id: "evil/calls" }),
  },
  {
    name: "paths of 15 KB, without a key",
    connections: 4,
    once: (target) => send("GET", LONG_TARGET, target),
  },
  {
    name: "2,000 requests at once, without a key",
    connections: 20,
    once: (target) => sendRaw(target, PIPELINED),
  },
  {
    name: "1 MiB of empty objects",
    connections: 4,
    once: (target) => send("POST", "/call/upsert_batch", target, VALUES),
  },
  {
    name: "deletions of projects",
    connections: 60,
    once: (target) => send("DELETE", `/projects/evil/p${deletion++ % 1000}`, target),
  },
];
