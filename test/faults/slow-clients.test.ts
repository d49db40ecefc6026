import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fillCalls } from "../../bench/sample-calls.ts";
import { openEmbedded } from "../../src/store/connect.ts";
import { SINGLE_KEY_SHARE } from "../../src/fairness/allocations.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { startProcess, type ServiceProcess } from "../helpers/service-process.ts";
import { authorization, ROOT_KEY } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

const project_id = "acme/slow";
const CALLS = 120_000;
const STREAMS = 5;
const STALL_MS = 5000;
const READERS = 24;
const BYTE_MS = 300;
const IDLE_CONNECTIONS = 3000;

const dir = mkdtempSync(join(tmpdir(), "sumtree-slow-"));
let service: ServiceProcess;
const sockets: Socket[] = [];

beforeAll(async () => {
  const engine = await openEmbedded(dir);
  await migrate(engine, { cluster: undefined });
  await fillCalls(engine, { project: project_id, calls: CALLS, callsPerTrace: 1000 });
  await engine.close();
  service = await startProcess({
    DATA_DIR: dir,
    ROOT_API_KEY: ROOT_KEY,
    CLIENT_STALL_TIMEOUT_MS: String(STALL_MS),
    MAX_STREAMED_RESPONSES: String(Math.ceil(STREAMS / SINGLE_KEY_SHARE)),
    MAX_BODY_BYTES_IN_FLIGHT: String(64 * 2 ** 20),
  });
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await service.end("SIGTERM");
  rmSync(dir, { recursive: true, force: true });
});

function connection(): Socket {
  const socket = connect({ port: Number(new URL(service.url).port), host: "127.0.0.1" });
  socket.on("error", () => undefined);
  sockets.push(socket);
  return socket;
}

async function closed(socket: Socket): Promise<void> {
  socket.resume();
  if (!socket.destroyed) await once(socket, "close");
}

function head(path: string, contentLength: number): string {
  return [
    `POST ${path} HTTP/1.1`,
    "host: test",
    `authorization: ${authorization()}`,
    "content-type: application/json",
    `content-length: ${contentLength}`,
    "\r\n",
  ].join("\r\n");
}

interface SlowReader {
  status(): number | undefined;
  /** Reads on at full speed, to the end; whether the answer came to its regular one. */
  readOn(): Promise<boolean>;
}

/** Asks for everything, and reads one byte of the answer at a time. */
function readSlowly(): SlowReader {
  const socket = connection();
  const body = JSON.stringify({ project_id, limit: 1_000_000 });
  socket.write(head("/trace/usage", body.length) + body);
  let begin = "";
  const timer = setInterval(() => {
    const byte = socket.read(1) as Buffer | null;
    if (byte !== null) begin += byte.toString("latin1");
  }, BYTE_MS);
  socket.pause();
  return {
    status: () => (begin.length < 12 ? undefined : Number(begin.slice(9, 12))),
    async readOn() {
      clearInterval(timer);
      let end = "";
      socket.on("data", (chunk: Buffer) => (end = (end + chunk.toString("latin1")).slice(-5)));
      await closed(socket);
      return end === "0\r\n\r\n";
    },
  };
}

/** Somebody else's question. A process that has more to do than it can says so for a moment. */
async function isServed(): Promise<boolean> {
  const filter = { trace_ids: ["trace-00000000"] };
  const response = await service.post("/trace/usage", { project_id, filter });
  const { call_usage } = (await response.json()) as { call_usage?: object };
  return response.status === 200 && Object.keys(call_usage ?? {}).length === 1000;
}

/** This one included. */
async function openRequests(): Promise<number> {
  const response = await fetch(`${service.url}/metrics`, { headers: { authorization: authorization() } });
  return Number(/^sumtree_http_open_requests (\d+)$/m.exec(await response.text())![1]);
}

describe(`clients that read one byte in ${BYTE_MS} ms`, () => {
  // what they cost in memory: bench/memory.bench.ts
  it("hold limited permits, are disconnected in time, and do not affect others", async () => {
    for (let n = 0; n < 5; n++) await until(isServed);
    const began = performance.now();
    const readers = Array.from({ length: READERS }, readSlowly);
    while (readers.some((reader) => reader.status() === undefined)) await until(isServed);
    expect(performance.now() - began).toBeGreaterThan(11 * BYTE_MS);
    const statuses = readers.map((reader) => reader.status());
    expect(statuses.filter((status) => status === 503).length).toBeGreaterThanOrEqual(READERS / 2);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(STREAMS);
    expect(new Set(statuses)).toEqual(new Set([200, 503]));
    await until(async () => (await openRequests()) === 1);

    let whole: Response | undefined;
    const seesTheWhole = async (): Promise<boolean> => {
      whole = await service.post("/trace/usage", { project_id, limit: 1_000_000 });
      return whole.ok;
    };
    await until(seesTheWhole);
    const { call_usage } = (await whole!.json()) as { call_usage: object };
    expect(Object.keys(call_usage)).toHaveLength(CALLS);
    const slow = readers.filter((reader) => reader.status() === 200);
    expect(await Promise.all(slow.map((reader) => reader.readOn()))).toEqual(slow.map(() => false));
  });
});

describe("uploads that stall", () => {
  it("hold no permit for bytes that have not arrived, and are aborted in time", async () => {
    const heads = Array.from({ length: 8 }, () => {
      const socket = connection();
      socket.write(`${head("/call/upsert_batch", 64 * 2 ** 20)}{"batch":[`);
      return socket;
    });
    await until(async () => (await openRequests()) === heads.length + 1);
    const trickle = setInterval(() => heads.forEach((socket) => socket.write(" ")), 100);
    const responses = heads.map(async (socket) => {
      const [head] = (await once(socket, "data")) as [Buffer];
      return head.toString("latin1").slice(9, 12);
    });
    expect(await isServed()).toBe(true);
    const statuses = await Promise.all(responses);
    clearInterval(trickle);
    expect(statuses).toEqual(heads.map(() => "408"));
    await Promise.all(heads.map(closed));
  });
});

describe(`${IDLE_CONNECTIONS} idle connections`, () => {
  it("do not affect others", async () => {
    const idle = Array.from({ length: IDLE_CONNECTIONS }, connection);
    await Promise.all(idle.map((socket) => once(socket, "connect")));
    for (let n = 0; n < 5; n++) await until(isServed);
    for (const socket of idle) socket.destroy();
    await until(isServed);
  });
});
