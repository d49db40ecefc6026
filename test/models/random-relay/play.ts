import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { seededRandom } from "../../helpers/seeded-random.ts";
import type { Plan } from "./plan.ts";

/** Received message; `whole` if its framing is complete. */
export interface Arrival {
  readonly status: number;
  readonly bytes: Buffer;
  readonly whole: boolean;
}

export interface RandomUpstream {
  readonly url: string;
  /** Plays a plan for the request that names `id`. Resolves with the body that came with it. */
  expect(id: string, plan: Plan): Promise<Arrival>;
  /** Requests that are not over. */
  open(): number;
  close(): Promise<void>;
}

/** An upstream that answers each request by its plan. */
export async function startRandomUpstream(): Promise<RandomUpstream> {
  const plans = new Map<string, { plan: Plan; arrived: (arrival: Arrival) => void }>();
  let open = 0;
  const server = createServer((request, response) => {
    open++;
    response.once("close", () => open--);
    const id = String(request.headers["x-client-request-id"]);
    const { plan, arrived } = plans.get(id)!;
    plans.delete(id);
    response.on("error", () => undefined);
    void answer(plan, request, response).then(arrived);
  });
  server.requestTimeout = 0;
  // an idle connection is not closed just when the gateway sends the next request over it
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    expect: (id, plan) =>
      new Promise((resolve) => {
        plans.set(id, { plan, arrived: resolve });
      }),
    open: () => open,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(plan: Plan, request: IncomingMessage, response: ServerResponse): Promise<Arrival> {
  const arrival = await readAll(request, plan.kind === "upload" ? plan : undefined);
  if (plan.kind === "upload") {
    response.end("{}");
    return arrival;
  }
  const type = plan.kind === "plain" ? "application/octet-stream" : "text/event-stream";
  response.writeHead(200, { "content-type": type });
  response.flushHeaders();
  await writeAll(plan, response);
  // "short": in good order, before the end
  if (plan.ending === "reset") {
    await delay(5);
    response.socket?.resetAndDestroy();
  } else {
    response.end();
  }
  return arrival;
}

async function writeAll(plan: Plan, to: ServerResponse | Socket): Promise<void> {
  let at = 0;
  for (const [number, size] of plan.writes.entries()) {
    const pause = plan.pauses.get(number);
    if (pause !== undefined) await delay(pause);
    if (to.destroyed) return;
    const ready = to.write(plan.bytes.subarray(at, at + size));
    at += size;
    if (!ready && !to.destroyed) await drained(to);
  }
}

function drained(stream: ServerResponse | Socket): Promise<void> {
  return new Promise((resolve) => {
    const materialize = (): void => {
      stream.off("drain", materialize).off("close", materialize);
      resolve();
    };
    stream.on("drain", materialize).on("close", materialize);
  });
}

/** Reads a request's body at the pace of the plan's reader. */
async function readAll(request: IncomingMessage, plan: Plan | undefined): Promise<Arrival> {
  const parts: Buffer[] = [];
  const pace = plan && paceOf(plan);
  try {
    for await (const part of request as AsyncIterable<Buffer>) {
      parts.push(part);
      const wait = pace?.() ?? 0;
      if (wait > 0) await delay(wait);
    }
  } catch {
    // cut
  }
  return { status: 0, bytes: Buffer.concat(parts), whole: request.complete };
}

/** How long a reader stops after each part that it has read. */
function paceOf({ reader, readerSeed }: Plan): () => number {
  const random = seededRandom(readerSeed);
  if (reader === "fast") return () => 0;
  if (reader === "slow") return () => (random.next() < 0.3 ? 1 : 0);
  return () => (random.next() < 0.02 ? 20 + random.next() * 60 : 0);
}

/** Sends a plan's request to the gateway over a bare socket, and reads the answer at the pace of the plan. */
export async function exchange(port: number, head: string, plan: Plan): Promise<Arrival> {
  const socket = connect({ port, host: "127.0.0.1" });
  socket.on("error", () => undefined);
  const closed = once(socket, "close");
  socket.write(head);
  if (plan.kind === "upload") void upload(plan, socket);
  const reader = new AnswerReader();
  const pace = plan.kind === "upload" ? (): number => 0 : paceOf(plan);
  const leaveAt = plan.ending === "left" && plan.kind !== "upload" ? plan.bytes.length / 2 : Infinity;
  socket.on("data", (part) => {
    reader.push(part);
    if (reader.whole || reader.bodyBytes >= leaveAt) {
      socket.destroy();
      return;
    }
    const wait = pace();
    if (wait === 0) return;
    socket.pause();
    setTimeout(() => socket.resume(), wait);
  });
  await closed;
  return { status: reader.status, bytes: reader.body(), whole: reader.whole };
}

async function upload(plan: Plan, socket: Socket): Promise<void> {
  await writeAll(plan, socket);
  if (plan.ending !== "whole") socket.destroy();
}

/** Takes a chunked or sized answer apart as it comes. */
class AnswerReader {
  status = 0;
  whole = false;
  bodyBytes = 0;
  readonly #body: Buffer[] = [];
  #rest: Buffer = Buffer.alloc(0);
  /** Bytes that are left of the chunk or body; undefined before its size is known. */
  #left: number | undefined;
  #chunked = false;

  body(): Buffer {
    return Buffer.concat(this.#body);
  }

  push(part: Buffer): void {
    this.#rest = this.#rest.length === 0 ? part : Buffer.concat([this.#rest, part]);
    while (!this.whole && this.#step());
  }

  #step(): boolean {
    if (this.status === 0) return this.#readHead();
    if (this.#left === undefined) return this.#readSize();
    const taken = this.#rest.subarray(0, this.#left);
    if (taken.length === 0 && this.#left > 0) return false;
    this.#body.push(taken);
    this.bodyBytes += taken.length;
    this.#rest = this.#rest.subarray(taken.length);
    this.#left -= taken.length;
    if (this.#left > 0) return false;
    if (this.#chunked) this.#left = undefined;
    else this.whole = true;
    return true;
  }

  #readHead(): boolean {
    const end = this.#rest.indexOf("\r\n\r\n");
    if (end === -1) return false;
    const head = this.#rest.toString("latin1", 0, end);
    this.#rest = this.#rest.subarray(end + 4);
    this.status = Number(head.split(" ")[1]);
    this.#chunked = /\r\ntransfer-encoding: chunked/i.test(head);
    if (!this.#chunked) this.#left = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
    return true;
  }

  /** Reads the size line of a chunk, after the end of the previous one. */
  #readSize(): boolean {
    const from = this.#rest[0] === 13 ? 2 : 0;
    const end = this.#rest.indexOf("\r\n", from);
    if (end === -1) return false;
    const size = Number.parseInt(this.#rest.toString("latin1", from, end), 16);
    this.#rest = this.#rest.subarray(end + 2);
    if (size === 0) this.whole = true;
    else this.#left = size;
    return true;
  }
}
