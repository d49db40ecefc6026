import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { generateKey } from "../../src/http/auth/api-key.ts";
import { createKeyStore } from "../../src/http/auth/key-store.ts";
import { blockStatement } from "../helpers/blocked-statement.ts";
import { head, sendRaw, type RawExchange } from "../helpers/raw-http.ts";
import { callsOf, metricsOf, nothingLeft } from "../helpers/recorded-calls.ts";
import { ROOT_KEY } from "../helpers/start-app.ts";
import {
  startGateway,
  startSecondApp,
  UPSTREAM_KEY,
  type SecondApp,
  type TestGateway,
} from "../helpers/start-gateway.ts";
import { until } from "../helpers/until.ts";

let test: TestGateway;
beforeAll(async () => {
  test = await startGateway();
});
afterAll(() => test.close());
beforeEach(() => test.upstream.forget());

async function openRequests(of: Pick<TestGateway, "app"> = test): Promise<number> {
  return Number(/sumtree_gateway_open_requests (\d+)/.exec(await metricsOf(of))![1]);
}

function post(path: string, body: string, ...headers: readonly string[]): RawExchange {
  const lines = [`POST ${path} HTTP/1.1`, "host: g", `authorization: Bearer ${ROOT_KEY}`, ...headers];
  return sendRaw(test.port, head(...lines, `content-length: ${Buffer.byteLength(body)}`), body);
}

function upload(length: number, path = "/v1/preview/training-jobs"): string {
  const authorization = `authorization: Bearer ${ROOT_KEY}`;
  return head(`POST ${path} HTTP/1.1`, "host: g", authorization, `content-length: ${length}`);
}

/** Leaves, and waits until the upstream has seen it and the place is free. */
async function leave(socket: Socket): Promise<void> {
  socket.destroy();
  expect(await test.upstream.seen[0]!.left).toBe(true);
  await until(async () => (await openRequests()) === 0);
}

const messages = '"messages":[{"role":"user","content":"hi"}]';

describe.each([
  ["not recorded", []],
  ["recorded", ["openai-project: acme/aborts"]],
])("a client that leaves (%s)", (_what, headers) => {
  it.each([
    ["while the upstream has not begun to answer", `{${messages},"stream":true}`, "silence"],
    ["while a completion that is not streamed is made", `{${messages}}`, "silence"],
    ["during a stream", `{${messages},"stream":true,"max_tokens":1000,"vllm_xargs":{"delay_ms":20}}`, "none"],
  ])("%s closes the upstream request and releases its permit at once", async (_when, body, fault) => {
    if (fault === "silence") test.upstream.fail({ kind: "silence", ms: 60_000 });
    const { socket, received } = post("/v1/chat/completions", body, ...headers);
    await until(() => (test.upstream.seen[0]?.bodyBytes ?? 0) > 0);
    if (fault === "none") await until(() => received().includes("data: "));
    expect(await openRequests()).toBe(1);
    await leave(socket);
  });

  it("during its upload closes the upstream request and releases its permit at once", async () => {
    const path = headers.length === 0 ? "/v1/preview/training-jobs" : "/v1/chat/completions";
    const lines = [`POST ${path} HTTP/1.1`, "host: g", `authorization: Bearer ${ROOT_KEY}`, ...headers];
    const body = "x".repeat(6_000_000);
    const { socket } = sendRaw(test.port, head(...lines, "content-length: 50000000"), body);
    await until(() => test.upstream.seen.length === 1);
    await leave(socket);
  });
});

describe("a client that leaves a stream before its usage", () => {
  const event = (chunk: object): string => `data: ${JSON.stringify({ id: "c", model: "m", ...chunk })}\n\n`;
  const said = (index: number, content: string, finish_reason: string | null = null): string =>
    event({ choices: [{ index, delta: { content }, finish_reason }] });
  const counts = { prompt_tokens: 70, completion_tokens: 30, total_tokens: 100 };
  const usage = event({ choices: [], usage: counts });
  const response = said(0, "Hello") + said(0, "", "stop");
  let projects = 0;
  let app: SecondApp;
  beforeAll(async () => {
    app = await startSecondApp(test, {});
  });
  afterAll(() => app.close());

  /** Leaves behind the end of the answer; `more` comes when it has left. */
  async function leaveBeforeUsage(more: readonly string[]) {
    const project = `acme/left-${projects++}`;
    const left = Promise.withResolvers<void>();
    test.upstream.fail({
      kind: "bytes",
      chunks: [response, left.promise, ...more],
      headers: { "content-type": "text/event-stream" },
      ending: "hang",
    });
    const body = `{${messages},"stream":true}`;
    const auth = `authorization: Bearer ${ROOT_KEY}`;
    const lines = ["POST /v1/chat/completions HTTP/1.1", "host: g", auth, `openai-project: ${project}`];
    const length = `content-length: ${body.length}`;
    const { socket, received } = sendRaw(app.port, head(...lines, length), body);
    await until(() => received().includes('"stop"'));
    socket.destroy();
    await until(async () => (await app.connections()) === 0);
    const recorded = async () => {
      const [{ attributes, summary } = { attributes: { sumtree: {} }, summary: { usage: {} } }] =
        await callsOf(test, project);
      return { ...attributes.sumtree, counts: Object.values(summary.usage) };
    };
    const told = async () => {
      await nothingLeft(app);
      return recorded();
    };
    return { release: left.resolve, told, recorded };
  }

  it("keeps its permit until the usage has arrived, which is exact", async () => {
    const { release, told, recorded } = await leaveBeforeUsage([usage]);
    const open = await openRequests(app);
    expect([open, await recorded()]).toEqual([1, { counts: [] }]);
    release();
    expect(await told()).toMatchObject({ outcome: "aborted", usage: "exact", counts: [counts] });
    expect(await test.upstream.seen[0]!.left).toBe(true);
    expect(await openRequests(app)).toBe(0);
  });

  it.each([
    ["goes on with another choice", said(1, "Hi")],
    ["ends without a count", "data: [DONE]\n\n"],
    ["says no end of it", `: ${"x".repeat(100_000)}\n\n`],
  ])("closes the upstream request at once if the upstream %s", async (_what, more) => {
    const { release, told } = await leaveBeforeUsage([more]);
    release();
    expect(await told()).toMatchObject({ outcome: "aborted", usage: "estimated" });
    expect(await test.upstream.seen[0]!.left).toBe(true);
  });

  it("does not delay a stop, and is recorded", async () => {
    const { recorded } = await leaveBeforeUsage([]);
    await app.close();
    expect(await recorded()).toMatchObject({ outcome: "aborted", usage: "estimated" });
  });
});

describe("a client that leaves during a small body", () => {
  it.each([
    ["/v1/chat/completions", []],
    ["/v1/chat/completions", ["openai-project: acme/aborts"]],
    ["/v1/preview/models", []],
    ["/v1/preview/training-jobs", []],
  ])("releases its permit, and is not sent upstream: %s %j", async (path, headers) => {
    const lines = [`POST ${path} HTTP/1.1`, "host: g", `authorization: Bearer ${ROOT_KEY}`, ...headers];
    const { socket } = sendRaw(test.port, head(...lines, "content-length: 1000"), '{"model":');
    await until(async () => (await openRequests()) === 1);
    socket.destroy();
    await until(async () => (await openRequests()) === 0);
    expect(test.upstream.seen).toHaveLength(0);
  });
});

describe("a client that leaves while its key is checked", () => {
  const paths = ["/v1/chat/completions", "/v1/preview/training-jobs", "/trace/usage"];
  it.each(paths)("holds no permit at %s", async (path) => {
    const { id, text, secretHash } = generateKey();
    const key = { id, name: "t", secretHash, scopes: ["train"], projects: ["*"], expiresAtMs: null } as const;
    await createKeyStore(test.engine).add(key);
    const held = blockStatement(test.engine, "api_key_list");
    const app = await startSecondApp(test, {}, { engine: held.engine });
    try {
      const body = `{${messages}}`;
      const authorization = `authorization: Bearer ${text}`;
      const { socket } = sendRaw(
        app.port,
        head(`POST ${path} HTTP/1.1`, "host: g", authorization, `content-length: ${body.length}`),
        body,
      );
      await until(() => held.count() === 1);
      socket.destroy();
      await until(async () => (await app.connections()) === 0);
      await held.release();
      expect([await openRequests(app), test.upstream.seen.length]).toEqual([0, 0]);
      expect(await metricsOf(app)).not.toMatch(/^sumtree_limiter_in_use\{limiter="bodies"\} [1-9]/m);
    } finally {
      await app.close();
    }
  });
});

describe("a client that leaves while its request waits for a connection", () => {
  let stuck: Server;
  let sockets: Socket[];
  beforeAll(async () => {
    sockets = [];
    // takes connections and never says a word of TLS
    stuck = createServer((socket) => void sockets.push(socket.on("error", () => undefined)));
    await new Promise<void>((resolve) => stuck.listen(0, "127.0.0.1", resolve));
  });
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    stuck.close();
  });

  async function inFrontOfIt(connectTimeoutMs: number): Promise<SecondApp> {
    const { port } = stuck.address() as AddressInfo;
    return startSecondApp(test, {
      TRAINING_UPSTREAM_URL: `https://127.0.0.1:${port}/v1`,
      UPSTREAM_CONNECT_TIMEOUT_MS: String(connectTimeoutMs),
    });
  }

  it("releases its permit at once, and is not sent upstream", async () => {
    const gateway = await inFrontOfIt(120_000);
    const body = `{${messages}}`;
    const { socket } = sendRaw(gateway.port, upload(body.length, "/v1/chat/completions"), body);
    await until(() => sockets.length === 1);
    expect(await openRequests(gateway)).toBe(1);
    socket.destroy();
    await until(async () => (await openRequests(gateway)) === 0);
    // the greeting of TLS, and nothing else
    expect(sockets[0]!.bytesRead).toBeLessThan(2000);
    await gateway.close();
  });

  it("and one that stays receives an error in time: the upstream did not accept the request", async () => {
    const gateway = await inFrontOfIt(300);
    const response = await fetch(`http://127.0.0.1:${gateway.port}/v1/preview/base-models`, {
      headers: { authorization: `Bearer ${ROOT_KEY}` },
    });
    expect([response.status, await response.json()]).toMatchObject([
      504,
      { error: { code: "upstream_timeout" } },
    ]);
    await gateway.close();
  });
});

describe("a client that stays", () => {
  it("but stops during its upload gets 408, and the upstream request is closed", async () => {
    const impatient = await startSecondApp(test, { CLIENT_STALL_TIMEOUT_MS: "300" });
    const { answer } = sendRaw(impatient.port, upload(1_000_000), "x".repeat(10_000));
    expect(await answer).toMatchObject({ status: 408, complete: true });
    expect(await test.upstream.seen[0]!.left).toBe(true);
    await impatient.close();
  });

  it("is not at fault for an upstream that is silent, or reads nothing of its upload", async () => {
    const unread = createServer((socket) => socket.pause()).listen(0, "127.0.0.1");
    await once(unread, "listening");
    const impatient = await startSecondApp(test, {
      CLIENT_STALL_TIMEOUT_MS: "300",
      UPSTREAM_FIRST_BYTE_TIMEOUT_MS: "1500",
      TRAINING_UPSTREAM_URL: `http://127.0.0.1:${(unread.address() as AddressInfo).port}`,
      CHAT_UPSTREAM_URL: test.upstream.url,
      CHAT_UPSTREAM_API_KEY: UPSTREAM_KEY,
    });
    test.upstream.fail({ kind: "silence", ms: 1000 });
    const body = `{${messages}}`;
    const silent = sendRaw(impatient.port, upload(body.length, "/v1/chat/completions"), body);
    const { answer, socket } = sendRaw(impatient.port, upload(100_000_000));
    for (let n = 0; n < 100; n++) socket.write(Buffer.alloc(1_000_000, " "));
    expect(await silent.answer).toMatchObject({ status: 200, complete: true });
    expect(await answer).toMatchObject({ status: 504, complete: true });
    await impatient.close();
    unread.close();
  });

  it("reuses its connection, and the gateway its upstream connection, over many requests", async () => {
    const before = test.upstream.connections();
    for (let n = 0; n < 20; n++) {
      const response = await fetch(`${test.baseUrl}/preview/base-models`, {
        headers: { authorization: `Bearer ${ROOT_KEY}` },
      });
      await response.arrayBuffer();
    }
    expect(test.upstream.connections()).toBeLessThanOrEqual(Math.max(before, 1));
  });
});
