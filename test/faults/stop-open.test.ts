import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sendRaw, type RawResponse } from "../helpers/raw-http.ts";
import type { Fault } from "../helpers/reference-upstream/faults.ts";
import { startReferenceUpstream, type ReferenceUpstream } from "../helpers/reference-upstream/server.ts";
import { startProcess, type ServiceProcess } from "../helpers/service-process.ts";
import { authorization, ROOT_KEY } from "../helpers/start-app.ts";
import { until } from "../helpers/until.ts";

const dir = mkdtempSync(join(tmpdir(), "sumtree-stop-open-"));
let upstream: ReferenceUpstream;
beforeAll(async () => {
  upstream = await startReferenceUpstream();
});
afterAll(async () => {
  await upstream.close();
  rmSync(dir, { recursive: true, force: true });
});

function start(timeoutMs: number): Promise<ServiceProcess> {
  return startProcess({
    DATA_DIR: dir,
    ROOT_API_KEY: ROOT_KEY,
    TRAINING_UPSTREAM_URL: upstream.url,
    SHUTDOWN_TIMEOUT_MS: String(timeoutMs),
  });
}

interface Target {
  readonly port: number;
  readonly project: string;
  /** An id for a call of this client's own. */
  readonly id: string;
}

/** A response that is open when the signal comes. */
interface Open {
  /** Lets it come to its end, if it ever does. */
  readonly go?: () => void;
  /** Response; `undefined` for a client that does not read. */
  readonly answer?: Promise<RawResponse>;
}

type End = "complete" | "cut with an error event" | "cut" | "refused";

interface Kind {
  readonly open: (target: Target) => Promise<Open>;
  /** How its client sees the end; undefined for one that does not look. */
  readonly end?: End;
  /** The outcome of the call that it leaves, if it leaves any. */
  readonly outcome?: "finished" | "aborted" | "ingested";
}

const chat = JSON.stringify({ model: "forest-1", messages: [{ role: "user", content: "Hi" }], stream: true });
const event = (choice: object): string => `data: ${JSON.stringify({ id: "x", choices: [choice] })}\n\n`;
const FIRST = event({ index: 0, delta: { role: "assistant", content: "Every" } });
const LAST = `${event({ index: 0, delta: {}, finish_reason: "stop" })}data: [DONE]\n\n`;

function headOf(path: string, length: number, ...more: readonly string[]): string {
  const lines = [
    `POST ${path} HTTP/1.1`,
    "host: localhost",
    `authorization: ${path.startsWith("/v1/") ? `Bearer ${ROOT_KEY}` : authorization()}`,
    "content-type: application/json",
    `content-length: ${length}`,
    ...more,
  ];
  return `${lines.join("\r\n")}\r\n\r\n`;
}

const chatHead = (project: string): string =>
  headOf("/v1/chat/completions", chat.length, `openai-project: ${project}`);

/** A chat completion that the upstream has seen, and to which it does this. */
async function openChat({ port, project }: Target, fault: Fault): Promise<Required<Pick<Open, "answer">>> {
  upstream.fail(fault);
  const before = upstream.seen.length;
  const { answer, received } = sendRaw(port, chatHead(project), chat);
  await until(() => upstream.seen.length > before);
  if (fault.kind === "bytes") await until(() => received().length > 0);
  return { answer };
}

/** A request of which half the body has come. */
async function openHalf({ port }: Target, head: string, body: string): Promise<Open> {
  const half = Math.floor(body.length / 2);
  const { socket, answer } = sendRaw(port, head, body.slice(0, half));
  await new Promise((resolve) => socket.once("ready", resolve));
  return { answer, go: () => socket.write(body.slice(half)) };
}

function ingest({ project, id }: Target): { readonly head: string; readonly body: string } {
  const start = { project_id: project, id, trace_id: "t", op_name: "o", started_at: "2026-01-01T00:00:00Z" };
  const body = JSON.stringify({ start });
  return { head: headOf("/call/start", body.length), body };
}

const KINDS = {
  "a stream that ends in time": {
    async open(target) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const fault = { kind: "bytes", chunks: [FIRST, promise, LAST], ending: "end" } as const;
      return { ...(await openChat(target, fault)), go: resolve };
    },
    end: "complete",
    outcome: "finished",
  },
  "a stream that goes on": {
    open: (target) => openChat(target, { kind: "bytes", chunks: [FIRST], ending: "hang" }),
    end: "cut with an error event",
    outcome: "aborted",
  },
  "an upstream that says nothing": {
    open: (target) => openChat(target, { kind: "silence", ms: 600_000 }),
    end: "refused",
    outcome: "aborted",
  },
  "half of a completion": {
    open: (target) =>
      openChat(target, {
        kind: "bytes",
        chunks: ['{"choices":[{"index":0,"message":{"content":"Ev'],
        headers: { "content-type": "application/json" },
        ending: "hang",
      }),
    end: "cut",
    outcome: "aborted",
  },
  "a client that reads nothing of much": {
    async open({ port, project }) {
      const much = event({ index: 0, delta: { content: "word ".repeat(20_000) } });
      upstream.fail({ kind: "bytes", chunks: Array.from({ length: 200 }, () => much), ending: "end" });
      const before = upstream.seen.length;
      const socket = connect({ port, host: "127.0.0.1" }).pause();
      socket.on("error", () => undefined);
      socket.write(chatHead(project) + chat);
      await until(() => upstream.seen.length > before);
      return {};
    },
    outcome: "aborted",
  },
  "a completion of which the rest comes in time": {
    open: (target) => openHalf(target, chatHead(target.project), chat),
    end: "refused",
  },
  "a completion of which the rest never comes": {
    async open(target) {
      const { answer } = await openHalf(target, chatHead(target.project), chat);
      return { answer: answer! };
    },
    end: "cut",
  },
  "a message of which the rest comes in time": {
    open: (target) => openHalf(target, ingest(target).head, ingest(target).body),
    end: "complete",
    outcome: "ingested",
  },
  "a message of which the rest never comes": {
    async open(target) {
      const { answer } = await openHalf(target, ingest(target).head, ingest(target).body);
      return { answer: answer! };
    },
    end: "cut",
  },
} satisfies Record<string, Kind>;

function endOf({ status, body, complete }: RawResponse): End {
  if (complete) return status === 200 ? "complete" : "refused";
  return body.toString("utf8").endsWith("\n\n") && body.includes('data: {"error":')
    ? "cut with an error event"
    : "cut";
}

/** Reads the outcomes of the calls of a project. */
async function outcomes(service: ServiceProcess, project: string): Promise<string[]> {
  const response = await service.post("/calls/stream_query", { project_id: project });
  const lines = (await response.text()).split("\n").filter((line) => line !== "");
  return lines.map((line) => {
    const { attributes } = JSON.parse(line) as { attributes: { sumtree?: { outcome: string } } };
    return attributes.sumtree?.outcome ?? "ingested";
  });
}

async function hasStoppedListening(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    return await new Promise((resolve) => {
      socket.once("connect", () => resolve(false)).once("error", () => resolve(true));
    });
  } finally {
    socket.destroy();
  }
}

it(
  "a stop ends gracefully, and records the outcome of each open response",
  { timeout: 120_000 },
  async () => {
    const project = "acme/stop";
    const stopped = await start(12_000);
    const port = Number(new URL(stopped.url).port);
    const kinds: readonly (readonly [string, Kind])[] = Object.entries(KINDS);
    const open: Open[] = [];
    for (const [id, kind] of kinds) open.push(await kind.open({ port, project, id }));
    // who is answered now came after all of them
    await (await fetch(`${stopped.url}/healthz`)).text();

    const ended = stopped.end("SIGTERM");
    // the signal comes twice at once, as npm and a terminal send it
    stopped.child.kill("SIGTERM");
    await until(() => hasStoppedListening(port));
    for (const one of open) one.go?.();
    const ends = await Promise.all(open.map(async (one) => one.answer && endOf(await one.answer)));
    expect(kinds.map(([name], at) => [name, ends[at]])).toEqual(kinds.map(([name, { end }]) => [name, end]));
    // the code of a stop that took no longer than it may
    expect(await ended).toBe(0);

    const service = await start(12_000);
    const expected = kinds.flatMap(([, { outcome }]) => outcome ?? []);
    expect((await outcomes(service, project)).toSorted()).toEqual(expected.toSorted());
    expect(await service.end("SIGTERM")).toBe(0);
  },
);

it("a second signal that is not the first one passed on ends at once", async () => {
  const service = await start(60_000);
  const port = Number(new URL(service.url).port);
  await KINDS["a stream that goes on"].open({ port, project: "acme/twice", id: "call" });
  const ended = service.end("SIGTERM");
  await until(() => hasStoppedListening(port));
  await new Promise((resolve) => setTimeout(resolve, 600));
  service.child.kill("SIGTERM");
  expect(await ended).toBe(1);
});
